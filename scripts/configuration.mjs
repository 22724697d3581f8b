// Writes the tables of docs/configuration.md, which describe every variable that a process reads, from the zod schemas by which
// the processes read them. With --check, it fails when the file is out of date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readArguments } from '../ops/setup/arguments.mjs'
import { isSecretField } from '../packages/config/src/index.ts'
import { httpServiceFields } from '../packages/service-kit/src/config/index.ts'

const { values } = readArguments('node scripts/configuration.mjs [--check]', { options: ['check'] })
const root = resolve(import.meta.dirname, '..')
const file = join(root, 'docs/configuration.md')

/** The end of a name says the unit of the value. */
const units = { MS: 'ms', SECONDS: 's', DAYS: 'days', BYTES: 'bytes' }

const unitOf = (name) => units[/_(MS|SECONDS|DAYS|BYTES)(?:_MAX)?$/.exec(name)?.[1]] ?? ''

function defaultOf(field) {
  const unset = field.safeParse(undefined)
  if (!unset.success) return 'required'
  return unset.data === undefined ? 'unset' : `\`${unset.data}\``
}

function rowOf([name, field]) {
  if (!field.description) throw new Error(`${name} has no description`)
  return [`\`${name}\``, defaultOf(field), unitOf(name), isSecretField(field) ? 'yes' : '', field.description]
}

/** A table in Markdown whose columns are aligned. */
function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  const [head, ...others] = rows
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n')
}

const reference = (fields) =>
  table([['Variable', 'Default', 'Unit', 'Secret', 'Meaning'], ...Object.entries(fields).map(rowOf)])

const schemaOf = async (path) => (await import(join(root, path))).configSchema.shape

async function ownFieldsOf(service) {
  const shape = await schemaOf(`services/${service}/src/config.ts`)
  return Object.fromEntries(Object.entries(shape).filter(([name]) => !(name in httpServiceFields)))
}

/** Heading in the file → the variables of its table. */
const sections = { 'every service': httpServiceFields }
for (const service of readdirSync(join(root, 'services'))) sections[service] = await ownFieldsOf(service)
sections.migration = await schemaOf('packages/db/src/migrations/config.ts')
const { settingsSchema } = await import(join(root, 'packages/dev-env/src/start/settings.ts'))
sections['npm start'] = settingsSchema.shape
sections.backup = await schemaOf('packages/backup/src/place.ts')

const before = readFileSync(file, 'utf8')
const filled = new Set()
const marker = '<!-- variables: '
const [prose, ...parts] = before.split(marker)
const text = [prose, ...parts.map(fill)].join(marker)

/** What follows a marker, from the name of its process on, with a new table. */
function fill(part) {
  const name = part.slice(0, part.indexOf(' -->'))
  const end = part.indexOf('<!-- end -->')
  if (!(name in sections) || end < 0) throw new Error(`docs/configuration.md has a wrong marker: ${name}`)
  filled.add(name)
  return `${name} -->\n\n${reference(sections[name])}\n\n${part.slice(end)}`
}

const missing = Object.keys(sections).filter(
  (name) => Object.keys(sections[name]).length > 0 && !filled.has(name),
)
if (missing.length > 0) throw new Error(`docs/configuration.md has no table of: ${missing.join(', ')}`)

if (!values.check) writeFileSync(file, text)
else if (text !== before) {
  console.error('stale: docs/configuration.md\nrun: pnpm generate configuration')
  process.exitCode = 1
} else console.log(`${filled.size} tables, fresh`)
