// Writes the lists of docs/configuration.md, which describe every variable that a process reads, from the zod
// schemas by which the processes read them. With --check, it fails when the file is out of date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readArguments } from '../ops/setup/arguments.mjs'
import { httpServiceFields, isSecretField } from '../packages/config/src/index.ts'

const { values } = readArguments('node scripts/configuration.mjs [--check]', { options: ['check'] })
const root = resolve(import.meta.dirname, '..')
const file = join(root, 'docs/configuration.md')

/** Units of values, by the end of the variable's name. */
const units = { MS: 'in ms', SECONDS: 'in seconds', DAYS: 'in days', BYTES: 'in bytes' }

const unitOf = (name) => units[/_(MS|SECONDS|DAYS|BYTES)(?:_MAX|_MIN)?$/.exec(name)?.[1]] ?? ''

function defaultOf(field) {
  const unset = field.safeParse(undefined)
  if (!unset.success) return 'required'
  return `${unset.data ?? ''}` === '' ? 'default: unset' : `default: \`${unset.data}\``
}

/** Returns the item of a variable in its list: name, default, unit, whether it is secret, and meaning. */
function itemOf([name, field]) {
  if (!field.description) throw new Error(`${name} has no description`)
  const facts = [defaultOf(field), unitOf(name), isSecretField(field) ? 'secret' : '']
  return wrap(`- \`${name}\` (${facts.filter(Boolean).join(', ')}): ${field.description}`)
}

/**
 * Wraps the text of an item at 130 characters, and keeps each link and each text in backticks on one line.
 */
function wrap(item) {
  const lines = ['']
  for (const word of item.match(/(?:\[[^[\]]*\]\([^()]*\)|`[^`]*`|\S)+/g)) {
    if (lines.at(-1).length + word.length >= 130) lines.push('  ')
    const line = lines.pop()
    lines.push(/\S$/.test(line) ? `${line} ${word}` : `${line}${word}`)
  }
  return lines.join('\n')
}

const reference = (fields) => Object.entries(fields).map(itemOf).join('\n')

const schemaOf = async (path) => (await import(join(root, path))).configSchema.shape

async function ownFieldsOf(service) {
  const shape = await schemaOf(`services/${service}/src/config.ts`)
  return Object.fromEntries(Object.entries(shape).filter(([name]) => !(name in httpServiceFields)))
}

/** The variables of each list, by its heading in the file. */
const sections = { 'every service': httpServiceFields }
for (const service of readdirSync(join(root, 'services'))) sections[service] = await ownFieldsOf(service)
sections.migration = await schemaOf('packages/db/src/migrations/config.ts')
const { settingsSchema } = await import(join(root, 'packages/local-servers/src/start/settings.ts'))
sections['npm start'] = settingsSchema.shape
sections.backup = await schemaOf('packages/backup/src/data-locations.ts')

const before = readFileSync(file, 'utf8')
const filled = new Set()
const marker = '<!-- variables: '
const [prose, ...parts] = before.split(marker)
const text = [prose, ...parts.map(fill)].join(marker)

/** Replaces the list after a marker, which begins with the name of its process. */
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
if (missing.length > 0) throw new Error(`docs/configuration.md has no list of: ${missing.join(', ')}`)

if (!values.check) writeFileSync(file, text)
else if (text !== before) {
  console.error('stale: docs/configuration.md\nrun: pnpm generate configuration')
  process.exitCode = 1
} else console.log(`${filled.size} lists, fresh`)
