// Writes the Prisma client to src/generated without any download. Prints only problems.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const packageRoot = fileURLToPath(new URL('..', import.meta.url))
const cli = createRequire(import.meta.url).resolve('prisma/build/index.js')

// Files of an older schema must not remain beside the new client.
rmSync(new URL('../src/generated', import.meta.url), { recursive: true, force: true })

const result = spawnSync(process.execPath, [cli, 'generate', '--no-hints'], {
  cwd: packageRoot,
  encoding: 'utf8',
  env: {
    ...process.env,
    // Otherwise the CLI downloads a native schema engine at its start, which the generator does not use.
    PRISMA_SCHEMA_ENGINE_BINARY: fileURLToPath(new URL('no-schema-engine.sh', import.meta.url)),
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  },
})

if (result.status !== 0) {
  process.stderr.write(`${result.stdout}${result.stderr}${result.error?.message ?? ''}\n`)
  process.exitCode = 1
}
