// Checks the types of the given files of the project in the current folder, and compiles them: a complete check and build
// would take ten times as long, and the other files are checked and built in the original project.
// Usage: node build-checking.mjs TSCONFIG FILE...
import ts from 'typescript-api';

const [config = '', ...checked] = process.argv.slice(2);
const { fileNames, options } = ts.getParsedCommandLineOfConfigFile(config, {}, ts.sys);
const program = ts.createProgram(fileNames, options);
const faults = checked.flatMap((file) => {
  const source = program.getSourceFile(file);
  if (!source) throw new Error(`${file} is no part of ${config}`);
  program.emit(source);
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
});
if (faults.length > 0) {
  console.error(ts.formatDiagnostics(faults, ts.createCompilerHost(options)));
  process.exitCode = 1;
}
