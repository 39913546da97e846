// Compiles the project in the current folder, but checks the types of the given files only: a complete check would take ten
// times as long, and the other files are checked in the original project. Usage: node build-checking.mjs TSCONFIG FILE...
import ts from 'typescript';

const [config = '', ...checked] = process.argv.slice(2);
const { fileNames, options } = ts.getParsedCommandLineOfConfigFile(config, {}, ts.sys);
const host = ts.createCompilerHost(options);
const program = ts.createProgram(fileNames, options, host);
const faults = checked.flatMap((file) => {
  const source = program.getSourceFile(file);
  if (!source) throw new Error(`${file} is no part of ${config}`);
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
});
ts.createProgram(fileNames, { ...options, noCheck: true }, host, program).emit();
if (faults.length > 0) {
  console.error(ts.formatDiagnostics(faults, host));
  process.exitCode = 1;
}
