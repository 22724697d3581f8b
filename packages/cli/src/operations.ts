import { type Command, Option } from 'commander'
import { dataOf, type Schemas } from './api.js'
import { facts, instant, table } from './output.js'
import { examples, say, sessionOf, wholeNumber } from './session.js'

const types = ['banner', 'notification'] as const
const themes = [
  'indigo',
  'blue',
  'green',
  'red',
  'light-indigo',
  'light-blue',
  'light-green',
  'light-red',
  'dark',
  'light',
] as const

/** Adds `queue` and `banner`, for operators. */
export function addOperationsCommands(program: Command): void {
  const queue = program.command('queue').description('Read the queues of background jobs')
  queue
    .command('ls')
    .description('List queues: jobs that wait, and for how many seconds the oldest')
    .option('--source <name>', 'of the metrics; else the first one')
    .addHelpText('after', examples('queue ls', 'queue ls --source billing --json'))
    .action(listQueues)
  const banner = program.command('banner').description('Write banners that sites show')
  banner
    .command('post')
    .argument('<message>', 'in Markdown')
    .description('Show a banner from now on for an hour, or as long as you say')
    .option('--starts <time>', 'like 2026-11-27T08:00:00Z; else now')
    .option('--ends <time>', 'else in an hour')
    .addOption(new Option('--type <type>', 'across the page, or in its corner').choices(types))
    .addOption(new Option('--theme <theme>', 'its colours').choices(themes))
    .option('--path <path>', 'pages that show it, like /projects/*; else every one')
    .option('--dismissable', 'readers may put it away')
    .addHelpText(
      'after',
      examples(
        'banner post "Deploys **pause** at noon" --theme red',
        'banner post Hello --ends 2026-12-24T18:00:00Z',
      ),
    )
    .action(postBanner)
  banner
    .command('ls')
    .description('List banners, the newest first')
    .option('-n, --limit <number>', 'at most so many, up to 100', wholeNumber, 20)
    .addHelpText('after', examples('banner ls', 'banner ls --json'))
    .action(listBanners)
  banner
    .command('end')
    .argument('<id>', 'of the banner', wholeNumber)
    .description('End a banner now')
    .addHelpText('after', examples('banner end 7'))
    .action(endBanner)
}

async function listQueues({ source }: { source?: string }, command: Command) {
  const { api, show } = sessionOf(command)
  const found = await dataOf(
    api.GET('/jobqueue/queue_metrics', { params: { query: { source, extended: true } } }),
  )
  const rows = Object.entries(found.queues).map(([name, queue]) => [
    name,
    queue.backlog,
    queue.latency,
    queue.busy,
    queue.processed,
    queue.failed,
    queue.paused ? 'paused' : '',
  ])
  const headings = ['QUEUE', 'BACKLOG', 'LATENCY', 'BUSY', 'PROCESSED', 'FAILED', 'STATE']
  show(found, rows.length > 0 ? table(headings, rows) : 'There are no queues.')
}

interface BannerOptions {
  starts?: string
  ends?: string
  type?: (typeof types)[number]
  theme?: (typeof themes)[number]
  path?: string
  dismissable?: boolean
}

async function postBanner(message: string, options: BannerOptions, command: Command) {
  const { api, show } = sessionOf(command)
  const { starts: starts_at, ends: ends_at, type: broadcast_type, path: target_path, ...given } = options
  const { theme, dismissable } = given
  const body = { message, starts_at, ends_at, broadcast_type, target_path, theme, dismissable }
  const made = await dataOf(api.POST('/broadcast_messages', { body }))
  show(made, describeBanner(made))
}

const describeBanner = (banner: Schemas['BroadcastMessage']) =>
  facts({
    banner: banner.id,
    message: banner.message,
    starts: instant(banner.starts_at),
    ends: instant(banner.ends_at),
    pages: banner.target_path,
  })

async function listBanners({ limit }: { limit: number }, command: Command) {
  const { api, show } = sessionOf(command)
  const banners = await dataOf(api.GET('/broadcast_messages', { params: { query: { per_page: limit } } }))
  const rows = banners.map((banner) => [
    banner.id,
    banner.active ? 'on' : '',
    instant(banner.starts_at),
    instant(banner.ends_at),
    banner.target_path,
    banner.message,
  ])
  const headings = ['ID', 'STATE', 'STARTS', 'ENDS', 'PAGES', 'MESSAGE']
  show(banners, banners.length > 0 ? table(headings, rows) : 'There are no banners.')
}

async function endBanner(id: number, _options: unknown, command: Command) {
  const { api, show } = sessionOf(command)
  const path = { id }
  const answer = api.GET('/broadcast_messages/{id}', { params: { path } })
  const banner = await dataOf(answer)
  // The clock of the server decides whether a banner is active.
  const now = new Date((await answer).response.headers.get('Date') ?? Date.now())
  if (new Date(banner.ends_at) <= now) {
    show(banner, describeBanner(banner))
    return say(`• banner ${id} has ended before`)
  }
  const body = { ends_at: now.toISOString() }
  const ended = await dataOf(api.PUT('/broadcast_messages/{id}', { params: { path }, body }))
  show(ended, describeBanner(ended))
}
