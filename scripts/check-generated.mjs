// Fails when proto/ breaks its lint rules or when the checked-in protobuf output is not what proto/
// generates.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const contracts = join(root, 'packages/contracts')
const proto = join(root, 'proto')

/** Runs buf inside packages/contracts, which has its template and plugin. */
const buf = (...args) =>
  execFileSync(join(contracts, 'node_modules/.bin/buf'), args, { cwd: contracts, stdio: 'inherit' })

/** Relative path → text of every file below a folder. */
function readTree(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')]
    }),
  )
}

/** The files that differ, are missing or are superfluous. */
function staleFiles(checkedIn, fresh) {
  const names = new Set([...checkedIn.keys(), ...fresh.keys()])
  return [...names].filter((name) => checkedIn.get(name) !== fresh.get(name)).sort()
}

const out = mkdtempSync(join(tmpdir(), 'switchyard-generated-'))
try {
  buf('lint', proto)
  buf('generate', '--template', 'buf.gen.yaml', '--output', out)
  const descriptorSet = join(out, 'src/gen-descriptors/descriptor-set.ts')
  execFileSync(process.execPath, [join(contracts, 'scripts/generate-descriptors.mjs'), descriptorSet])
  const stale = ['src/gen', 'src/gen-descriptors'].flatMap((folder) =>
    staleFiles(readTree(join(contracts, folder)), readTree(join(out, folder))).map(
      (file) => `${folder}/${file}`,
    ),
  )
  if (stale.length > 0) {
    console.error(`stale in packages/contracts: ${stale.join(', ')}`)
    console.error('run: pnpm generate proto')
    process.exitCode = 1
  } else {
    console.log('Generated code is fresh.')
  }
} catch {
  console.error('buf failed; its message stands above.')
  process.exitCode = 1
} finally {
  rmSync(out, { recursive: true, force: true })
}
