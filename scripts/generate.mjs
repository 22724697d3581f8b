// `pnpm generate [NAME [ARGUMENT]]`: generates files from other sources.
import { delimiter, join } from 'node:path'
import { readArguments } from '../ops/setup/arguments.mjs'
import { root, run } from '../ops/setup/bootstrap.mjs'
import { runGroup } from '../ops/setup/child-group.mjs'
import { pnpm } from '../ops/setup/setup-step.mjs'

const ofPackage = (name, script) => pnpm(root, '--filter', `@switchyard/${name}`, 'run', script)
const generators = {
  /**
   * Files that are not checked in: the client of the database, the types of the API, the script of banners.
   */
  sources: ['turbo', 'run', 'generate'],
  proto: ofPackage('contracts', 'generate:proto'),
  openapi: ['node', 'scripts/openapi.mjs'],
  configuration: ['node', '--import', 'tsx', 'scripts/configuration.mjs'],
  migration: ['node', 'scripts/with-infra.mjs', '--postgres', ...ofPackage('db', 'diff')],
}

const usage = `pnpm generate [NAME]
  sources          files that are not checked in, such as the client of the database; the default
  proto            packages/contracts/src/gen, from proto/
  openapi          packages/contracts/openapi.json, from the routes of the services
  configuration    the lists of docs/configuration.md, from the schemas by which processes read their environment
  migration TITLE  the next migration, from packages/db/prisma/schema.prisma`
const { operands } = readArguments(usage, { operands: ['NAME?', 'TITLE?'] })
const [name = 'sources', ...args] = operands
const command = generators[name]
if (command === undefined || (args.length > 0 && name !== 'migration')) {
  console.error(`✗ '${operands.join(' ')}' cannot be generated\nUsage: ${usage}`)
  process.exit(2)
}

await run((stop) => {
  const PATH = join(root, 'node_modules/.bin') + delimiter + process.env.PATH
  return runGroup([...command, ...args], stop, { cwd: root, env: { ...process.env, PATH } })
})
