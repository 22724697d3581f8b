import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream'
import { dataOf, type Schemas } from './api.js'
import { exitCodes, Failure, networkFailure } from './failure.js'
import { instant, oneLine, safeJson } from './output.js'
import { examples, type Session, say, sessionOf, tenantOption } from './session.js'

/** Time after which a stream without even a ping counts as lost. */
const silenceMsMax = 60_000
const silent = new Failure('the server sends nothing: try again', exitCodes.unreachable)
const retryMs = 2000

/** An event of the stream; its shape is in docs/sagas.md. */
interface Entry {
  seq: number
  saga_id: string
  activity_id: string | null
  operation: string
  received_at: string
  status: string
  outcome: string | null
}

type State = Pick<Schemas['Saga'], 'saga_id' | 'status' | 'outcome'>

interface Filter {
  saga?: string
  tenant?: string
  service?: string
}

export function addWatchCommand(saga: Command): void {
  saga
    .command('watch')
    .argument('[saga]', 'its id; every saga without it')
    .description('Print what is reported from now on; ends with the saga')
    .addOption(tenantOption())
    .option('--service <name>', 'that reports them')
    .addHelpText(
      'after',
      `\nWith --json each event is a line. The exit code is 0 when the saga succeeded, and ${exitCodes.notSucceeded} when it ended otherwise
or needs an operator.\n${examples('saga watch booking-1', 'saga watch --service booking --json')}`,
    )
    .action(async (id: string | undefined, options: Omit<Filter, 'saga'>, command: Command) => {
      const session = sessionOf(command)
      await watch(session, { ...options, saga: id })
    })
}

/** Prints the log as it grows, and reconnects when the connection is lost, so that no event is missing. */
async function watch(session: Session, filter: Filter): Promise<void> {
  const position: Position = {}
  for (;;) {
    const end = await watchOnce(session, filter, position)
    if (end) return endWith(end)
    if (!position.isLost) say('• the connection is lost; connecting again')
    position.isLost = true
    await delay(retryMs)
  }
}

/** The position from which a new connection continues. */
interface Position {
  lastId?: string
  /** Whether the loss of the connection was reported already. */
  isLost?: boolean
}

/**
 * Watches one connection.
 *
 * @returns the watched saga, once it has ended; undefined when a connection that has delivered events is lost
 */
async function watchOnce(session: Session, filter: Filter, position: Position) {
  try {
    for await (const message of messagesOf(session, filter, position.lastId)) {
      position.lastId = message.id ?? position.lastId
      if (message.event === 'close') return undefined
      position.isLost = false
      const end = await endOf(session, filter, message)
      if (end) return end
    }
  } catch (error) {
    const failure = error instanceof Failure ? error : networkFailure(error, session.url)
    if (failure.exitCode !== exitCodes.unreachable || position.lastId === undefined) throw failure
  }
  if (position.lastId === undefined)
    throw new Failure(
      `${session.url} sends no events as Switchyard does: check the address`,
      exitCodes.unreachable,
    )
  return undefined
}

async function* messagesOf({ api }: Session, { saga, tenant, service }: Filter, lastId: string | undefined) {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(silent), silenceMsMax)
  try {
    const query = { tenant, saga_id: saga, service_name: service }
    const headers = lastId === undefined ? {} : { 'Last-Event-ID': lastId }
    const { signal } = silence
    const { data } = await api.GET('/sagas/stream', { params: { query }, headers, signal, parseAs: 'stream' })
    const stream = data as ReadableStream<Uint8Array> | null | undefined
    if (!stream) return
    const messages = stream.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
    for await (const message of messages) {
      timer.refresh()
      yield message
    }
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Prints an event.
 *
 * @returns the watched saga, once it has ended
 */
async function endOf(session: Session, { saga, tenant }: Filter, message: EventSourceMessage) {
  if (message.event === undefined) {
    const entry = JSON.parse(message.data) as Entry
    process.stdout.write(`${session.isJson ? safeJson(entry) : lineOf(entry)}\n`)
    return saga !== undefined && hasEnded(entry) ? entry : undefined
  }
  if (saga === undefined) return undefined
  // A ping: the saga may have ended before the stream began.
  const found = await dataOf(
    session.api.GET('/sagas/{id}', { params: { path: { id: saga }, query: { tenant } } }),
  )
  return hasEnded(found) ? found : undefined
}

const hasEnded = ({ status, outcome }: Pick<Entry, 'status' | 'outcome'>) =>
  outcome !== null || status === 'Error'

const lineOf = ({ received_at, saga_id, activity_id, operation, status, outcome }: Entry) =>
  [instant(received_at), saga_id, operation, activity_id, `→ ${outcome ?? status}`]
    .filter((part) => part != null)
    .map((part) => oneLine(String(part)))
    .join('  ')

function endWith({ saga_id, status, outcome }: Pick<Entry, 'saga_id' | 'status' | 'outcome'> | State): void {
  if (status === 'Error')
    throw new Failure(
      `${saga_id} has failed and needs an operator: see "switchyard saga show"`,
      exitCodes.notSucceeded,
    )
  if (outcome !== 'succeeded' && outcome !== 'empty')
    throw new Failure(`${saga_id} has ended, and is ${outcome}`, exitCodes.notSucceeded)
  say(`✓ ${oneLine(saga_id)} has ended, and is ${outcome}`)
}
