import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = 'dist-release';
const BUILD_TYPE = 'https://github.com/npm/cli/npm-pack@v1';

/**
 * Writes what is published beside a release: the package, its bill of materials (CycloneDX, from package-lock.json) and its
 * provenance (an in-toto statement with a SLSA predicate, which names the commit and the hashes). Not signed.
 * @returns the paths
 */
export function writeAttestations({ version, commit, origin }) {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
  const startedOn = new Date().toISOString();
  const [{ filename }] = JSON.parse(npm('pack', '--json', '--pack-destination', FOLDER));
  const names = {
    package: filename,
    sbom: `parley-${version}.cdx.json`,
    provenance: `parley-${version}.provenance.json`,
  };
  writeJson(names.sbom, billOfMaterials());
  const statement = provenance({ version, commit, origin, startedOn, files: [names.package, names.sbom] });
  writeJson(names.provenance, statement);
  return Object.values(names).map((name) => join(FOLDER, name));
}

/** The packages that run in production. npm names the root after its folder. */
function billOfMaterials() {
  const flags = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--omit', 'dev', '--package-lock-only'];
  const sbom = JSON.parse(npm('sbom', ...flags));
  sbom.metadata.component.name = 'parley';
  return sbom;
}

function provenance({ version, commit, origin, startedOn, files }) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map((name) => ({ name, digest: { sha256: sha256(join(FOLDER, name)) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { version, ref: `refs/tags/v${version}` },
        internalParameters: { node: process.versions.node, platform: `${process.platform}-${process.arch}` },
        resolvedDependencies: [
          { uri: `git+${origin}`, digest: { gitCommit: commit } },
          { uri: 'package-lock.json', digest: { sha256: sha256('package-lock.json') } },
        ],
      },
      runDetails: {
        builder: { id: 'npm run release' },
        metadata: { startedOn, finishedOn: new Date().toISOString() },
      },
    },
  };
}

function sha256(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function writeJson(name, value) {
  writeFileSync(join(FOLDER, name), `${JSON.stringify(value, undefined, 2)}\n`);
}

/** The npm that runs this script, or the one on PATH. The build reports its progress on standard output, too. */
function npm(...args) {
  const ownNpm = process.env.npm_execpath;
  const [program, first] = ownNpm ? [process.execPath, [ownNpm]] : ['npm', []];
  const output = execFileSync(program, [...first, ...args], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  return output.slice(output.search(/^[[{]/m));
}
