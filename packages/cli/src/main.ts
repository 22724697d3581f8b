import tab from '@bomb.sh/tab/commander'
import { Command, CommanderError, type OutputConfiguration } from 'commander'
import { addAccountCommands } from './account.js'
import { addDeliveryCommands } from './delivery.js'
import { exitCodes, Failure, fileFailure } from './failure.js'
import { addOperationsCommands } from './operations.js'
import { oneLine } from './output.js'
import { addReleaseCommands } from './release.js'
import { addSagaCommands } from './saga.js'
import { examples, say } from './session.js'
import { addTokenCommands } from './token.js'

export interface Installation {
  version: string
  /** Further commands that the caller runs itself; help and completion show them. */
  commands?: { name: string; does: string }[]
}

/**
 * Runs the command with the given arguments, and sets the exit code of the process. Prints one sentence about
 * a failure, and no stack.
 */
export async function main(args: string[], installation: Installation): Promise<void> {
  process.stdout.on('error', endWithReader)
  // No command leaves unfinished work on this machine.
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
  try {
    await createProgram(installation).parseAsync(args, { from: 'user' })
  } catch (error) {
    process.exitCode = exitCodeOf(error)
  }
}

/** Ends the process when the reader of the output has gone, as with `head`, or when the disk is full. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  process.exit(exitCodeOf(error))
}

function exitCodeOf(error: unknown): number {
  // Commander has reported the problem of the arguments. Requested help is not a failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage
  const failure = error instanceof Failure ? error : fileFailure(error)
  if (!failure) throw error
  if (failure.message) say(`✗ ${oneLine(failure.message)}`)
  return failure.exitCode
}

const output: OutputConfiguration = {
  outputError(text, write) {
    const line = text.replace(/^error: /, '').replace(/^unknown command '(.*)'/, '$1 is no command')
    write(`✗ ${line.split('\n').map(oneLine).join('\n')}`)
  },
}

export function createProgram({ version, commands = [] }: Installation): Command {
  const program = new Command('switchyard')
    .description(
      'Talks to an instance of Switchyard: reports builds and deployments, reads sagas, queues and banners.',
    )
    .usage('COMMAND [ARGUMENT…]')
    .option('--url <address>', 'of the instance, instead of SWITCHYARD_URL or that of the login')
    .option('--json', 'print the JSON of the API')
    .version(version, '--version', 'say which release this is')
    .helpOption('-h, --help', 'say how to use a command')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput(output)
    .exitOverride()
    .showHelpAfterError('Ask with --help.')
    .addHelpText(
      'after',
      examples('login https://switchyard.example.com', 'status post main success -p ada/engine --name build'),
    )
  addAccountCommands(program)
  addDeliveryCommands(program)
  addReleaseCommands(program)
  addTokenCommands(program)
  addSagaCommands(program)
  addOperationsCommands(program)
  for (const { name, does } of commands)
    program.command(name).description(does).helpGroup('Commands of this installation:')
  tab(program)
  return program
}
