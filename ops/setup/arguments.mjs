// The command line of a script. Scripts read it before the setup, so it uses only Node's own modules.
import { parseArgs } from 'node:util'

/**
 * Reads options and operands. `--help` prints the usage and ends the process with 0. An unknown option, or
 * another number of operands, prints the problem and ends the process with 2, before anything is done.
 *
 * @param usage the lines of the help; the first is the command itself, such as `npm run backup -- [--check]
 * FOLDER`
 * @param options names of options without a value
 * @param settings names of options with a value
 * @param operands names of the operands; all are required unless their name ends with `?`
 * @returns `values`: true for a given option, the text of a setting; and the operands
 */
export function readArguments(usage, { options = [], settings = [], operands = [] } = {}) {
  try {
    refuseOptionsOfNpm([...options, ...settings])
    const { values, positionals } = parseArgs({
      // pnpm passes on a first `--`.
      args: process.argv.slice(process.argv[2] === '--' ? 3 : 2),
      allowPositionals: true,
      options: Object.fromEntries([
        ...['help', ...options].map((name) => [name, { type: 'boolean' }]),
        ...settings.map((name) => [name, { type: 'string' }]),
      ]),
    })
    if (values.help) {
      console.log(`Usage: ${usage}`)
      process.exit(0)
    }
    const required = operands.filter((name) => !name.endsWith('?'))
    const missing = required[positionals.length]
    if (missing) throw new Error(`${missing} is missing`)
    const surplus = positionals[operands.length]
    if (surplus !== undefined) throw new Error(`'${surplus}' is one argument too many`)
    return { values, operands: positionals }
  } catch (error) {
    // After the first sentence, Node explains how to name a file that looks like an option.
    console.error(`✗ ${error.message.split(/\.?\n|\. /)[0]}\nUsage: ${usage}`)
    process.exit(2)
  }
}

/**
 * Refuses options that npm has taken. npm reads options before `--` as its own settings, and passes none of
 * them on.
 *
 * @throws an error that names the option
 */
export function refuseOptionsOfNpm(options) {
  const { npm_command: command, npm_lifecycle_event: script } = process.env
  const kept = options.find((name) => process.env[`npm_config_${name.replaceAll('-', '_')}`])
  if (kept && command === 'run')
    throw new Error(`npm kept --${kept} for itself: write "npm run ${script} -- --${kept} …"`)
}
