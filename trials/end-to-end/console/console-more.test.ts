import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { launchBrowser } from '@switchyard/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Api, apiOf } from '../../support/api.js'
import { listDescendants } from '../../support/processes.js'
import { isTreeGiven, ownAddress, startTree, type Tree } from '../../support/tree.js'
import { violations } from './axe.js'
import { open, visit } from './console-browser.js'
import { lookAtEveryDialog } from './every-dialog.js'
import { type Access, themes } from './every-page.js'
import { type ExampleData, writeExampleData } from './example-data.js'

const browser: Browser | null = await launchBrowser()

let tree: Tree
let api: Api
let data: ExampleData
let newest: string
let receiver: Server
/** Bodies of the received webhooks. */
const received: { object_kind?: string }[] = []

beforeAll(async () => {
  if (!browser) return
  // The receiver of the webhooks is on this machine.
  tree = await startTree({
    env: {
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      SWITCHYARD_TRACE_URL: 'https://tempo.example.com/trace/{trace_id}',
    },
  })
  api = apiOf(tree.url, tree.rootToken)
  data = await writeExampleData(api)
  newest = data.commits.at(-1) ?? ''
  receiver = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      received.push(JSON.parse(text))
      response.end('thank you')
    })
  }).listen(0, ownAddress)
  await once(receiver, 'listening')
})
afterAll(async () => {
  await browser?.close()
  receiver?.close()
  await tree?.stop()
})

interface Visitor {
  token?: string
  /** Errors that the test expects. */
  expects?: RegExp
}

/** Opens a window of the administrator, or of another user, which must have no unexpected error. */
async function as<Result>(use: (page: Page) => Promise<Result>, visitor: Visitor = {}): Promise<Result> {
  if (!browser) throw new Error('There is no browser')
  const { token = tree.rootToken, expects } = visitor
  const { page, problems, close } = await visit(browser, { url: tree.url, token })
  try {
    const result = await use(page)
    expect(problems.filter((problem) => !expects?.test(problem))).toEqual([])
    return result
  } finally {
    await close()
  }
}

const shop = '/projects/root%2Fshop'
const shopPage = '/projects/root/shop'

/** Reports failed sagas with a common cause. */
const reportFailed = (service: string, count: number) =>
  api('POST', '/saga_events', {
    events: Array.from({ length: count }, (_, number) => {
      const saga_id = `${service}-${number}`
      const activity = { saga_id, activity_id: `${saga_id}-a` }
      return [
        { operation: 'SagaStarted', saga_id, service_name: service },
        { operation: 'ActivityExecuteStarted', ...activity },
        {
          operation: 'ActivityCompensateAborted',
          ...activity,
          errors: `${service} is closed, order ${number}`,
        },
        { operation: 'SagaEnded', saga_id },
      ]
    })
      .flat()
      .map((event, index) => ({ ...event, event_id: `${service}-${index}` })),
  })

describe.skipIf(!browser)('further work in the console', () => {
  it('saves a view of the sagas, opens it by its name, and deletes it', async () => {
    await as(async (page) => {
      await open(page, '/sagas?status=Started&sort=stalest')
      await page.getByRole('button', { name: 'Save view…' }).click()
      const save = page.getByRole('dialog', { name: 'Save view' })
      await save.getByLabel('Name').fill('What hangs')
      await save.getByRole('button', { name: 'Save' }).click()
      const views = page.getByLabel('Saved view')
      await expect.poll(() => views.locator('option:checked').textContent()).toBe('What hangs')
      await page.getByRole('button', { name: 'Clear filters' }).click()
      await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBeNull()
      await views.selectOption({ label: 'What hangs' })
      await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBe('Started')
      const { searchParams } = new URL(page.url())
      expect(searchParams.get('sort')).toBe('stalest')
      await open(page, `/sagas?view=${searchParams.get('view')}`)
      await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBe('Started')
      await page.getByRole('button', { name: 'Delete view…' }).click()
      await page.getByRole('dialog', { name: 'Delete view' }).getByRole('button', { name: 'Delete' }).click()
      await expect.poll(() => api<unknown[]>('GET', '/saved_views?page=sagas')).toEqual([])
      await expect.poll(() => views.count()).toBe(0)
    })
  })

  it('shows the tests and findings of a commit beside those of its parent, and on their lines', async () => {
    const commitOf = async (content: string) => {
      const action = { action: content === 'one' ? 'create' : 'update', file_path: 'reported.txt', content }
      const body = { branch: 'main', commit_message: `Report ${content}`, actions: [action] }
      return (await api<{ id: string }>('POST', `${shop}/repository/commits`, body)).id
    }
    const report = async (sha: string, type: string, body: string) => {
      const headers = { 'PRIVATE-TOKEN': tree.rootToken, 'Content-Type': type }
      const url = `${tree.url}/api/v4${shop}/statuses/${sha}/report?name=checks`
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(201)
    }
    const suiteOf = (failing: string) =>
      `<testsuite name="s">${['pays', 'ships'].map((name) => `<testcase name="${name}">${name === failing ? '<failure message="It did not"/>' : ''}</testcase>`).join('')}</testsuite>`
    const before = await commitOf('one')
    const sha = await commitOf('two')
    for (const id of [before, sha])
      await api('POST', `${shop}/statuses/${id}`, { state: 'failed', name: 'checks' })
    await report(before, 'application/xml', suiteOf('pays'))
    await report(sha, 'application/xml', suiteOf('ships'))
    const place = { artifactLocation: { uri: 'reported.txt' }, region: { startLine: 1 } }
    const results = [
      { ruleId: 'R1', message: { text: 'Say it in words' }, locations: [{ physicalLocation: place }] },
    ]
    const sarif = { version: '2.1.0', runs: [{ tool: { driver: { name: 'scan' } }, results }] }
    await report(sha, 'application/sarif+json', JSON.stringify(sarif))
    await as(async (page) => {
      await open(page, `${shopPage}/commits/${sha}`)
      const tests = page.getByRole('region', { name: 'Report checks (junit)' })
      await tests.getByText('2 tests in 0 ms: 1 passed, 1 failed, 0 skipped.').waitFor()
      await tests.getByText('It did not').waitFor()
      await tests.getByText('Fixed').click()
      await tests.getByText('pays').waitFor()
      await page.getByRole('region', { name: 'reported.txt' }).getByText('Say it in words').waitFor()
      expect(await violations(page)).toEqual([])
      await page.getByRole('link', { name: 'reported.txt:1' }).click()
      await expect.poll(() => new URL(page.url()).hash).toBe('#L1')
    })
  })

  it('adds a note to many sagas, resolves them by their cause, and undoes that', async () => {
    await reportFailed('bank', 3)
    const statuses = async () =>
      (await api<{ status: string }[]>('GET', '/sagas?service_name=bank')).map(({ status }) => status)
    await as(async (page) => {
      await open(page, '/sagas?service=bank')
      await page.getByRole('button', { name: 'Note on all…' }).click()
      const note = page.getByRole('dialog', { name: 'Note on 3 sagas' })
      await note.getByLabel('Note', { exact: true }).fill('Asked the bank')
      await note.getByRole('button', { name: 'Add note to 3 sagas' }).click()
      await note.getByText('3 sagas noted.').waitFor()
      await note.getByRole('button', { name: 'Close' }).click()

      await open(page, '/failures?service=bank')
      const cause = page.getByRole('row').filter({ hasText: 'bank is closed' })
      await cause.getByRole('link', { name: '3' }).click()
      await page.getByText('3 shown, all there are').waitFor()
      await page.goBack()
      await cause.getByRole('button', { name: 'Resolve all…' }).click()
      const resolve = page.getByRole('dialog', { name: 'Resolve 3 sagas' })
      await resolve.getByLabel('Note', { exact: true }).fill('It opened')
      await resolve.getByRole('button', { name: 'Resolve 3 sagas' }).click()
      await resolve.getByText('3 sagas resolved.').waitFor()
      expect(await statuses()).toEqual(['Ended', 'Ended', 'Ended'])
      await resolve.getByRole('button', { name: 'Undo' }).click()
      await resolve.getByText('3 resolutions undone.').waitFor()
      expect(await statuses()).toEqual(['Error', 'Error', 'Error'])
      await resolve.getByRole('button', { name: 'Close' }).click()

      await open(page, '/bulk-jobs')
      const jobs = page.getByRole('table', { name: 'Bulk jobs' })
      await jobs
        .getByRole('row')
        .filter({ hasText: 'It opened' })
        .getByText('undone', { exact: true })
        .waitFor()
      await jobs.getByRole('row').filter({ hasText: 'Asked the bank' }).getByRole('link').first().click()
      await page.getByRole('dialog', { name: 'Note on 3 sagas' }).getByText('bank-2').waitFor()
    })
  })

  it('links an event of a saga to its trace', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const trace_parent = `00-${trace}-00f067aa0ba902b7-01`
    await api('POST', '/saga_events', {
      events: [{ operation: 'SagaStarted', saga_id: 'traced', service_name: 'traced', trace_parent }],
    })
    await as(async (page) => {
      await open(page, '/sagas/traced')
      const events = page.getByRole('region', { name: 'Events' })
      await events.locator('summary').click()
      const link = events.getByRole('link', { name: trace_parent })
      expect(await link.getAttribute('href')).toBe(`https://tempo.example.com/trace/${trace}`)
      expect(await link.getAttribute('rel')).toContain('noopener')
    })
  })

  it('loads more sagas near the end of the list until it shows all', async () => {
    await reportFailed('busy', 130)
    await as(async (page) => {
      await open(page, '/sagas?service=busy')
      await page.getByText('100 shown').waitFor()
      await page.keyboard.press('End')
      await page.getByText('130 shown, all there are').waitFor()
    })
  })

  it.skipIf(isTreeGiven)(
    'shows that it reconnects when the server of a stream is gone, and misses nothing',
    async () => {
      const expects = /ERR_|50[0-9]/
      await as(
        async (page) => {
          await open(page, '/sagas?service=after')
          await page.getByRole('status').getByText('Live').waitFor()
          const reporter = listDescendants(tree.pid).find(({ command }) =>
            /saga-reporter\/dist/.test(command),
          )
          expect(reporter).toBeDefined()
          process.kill(reporter?.pid ?? 0, 'SIGKILL')
          await page.getByRole('status').getByText('Reconnecting').waitFor()
          const report = () =>
            reportFailed('after', 1).then(
              () => true,
              () => false,
            )
          await expect.poll(report, { interval: 500 }).toBe(true)
          await page.getByRole('status').getByText('Live').waitFor()
          await page.getByRole('table', { name: 'Sagas' }).getByText('after-0').waitFor()
        },
        { expects },
      )
    },
  )

  it('shows the deliveries of a webhook, and sends one again', async () => {
    const address = `http://${ownAddress}:${(receiver.address() as AddressInfo).port}/hook`
    await as(async (page) => {
      await open(page, `${shopPage}/settings`)
      await page.getByRole('button', { name: 'New webhook' }).click()
      const hook = page.getByRole('dialog', { name: 'New webhook' })
      await hook.getByLabel('Address').fill(address)
      await hook.getByLabel('Message').selectOption('plain')
      await hook.getByRole('button', { name: 'Preview' }).click()
      await hook.getByRole('region', { name: 'Preview of the body' }).getByText('refs/heads/main').waitFor()
      await hook.getByLabel('Message').selectOption('')
      await hook.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('link', { name: `Deliveries to ${address}` }).waitFor()
      await api('POST', `${shop}/repository/commits`, {
        branch: 'main',
        commit_message: 'Tell of this',
        actions: [{ action: 'create', file_path: 'told.txt', content: 'told\n' }],
      })
      await expect.poll(() => received.length).toBe(1)
      expect(received[0]?.object_kind).toBe('push')
      await page.getByRole('link', { name: `Deliveries to ${address}` }).click()
      const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').nth(1)
      await row.getByText('200').waitFor()
      await row.getByRole('button', { name: /^Show/ }).click()
      const delivery = page.getByRole('dialog', { name: 'Delivery' })
      await delivery.getByText('Tell of this').first().waitFor()
      await delivery.getByText('thank you').waitFor()
      await delivery.getByRole('button', { name: 'Close' }).click()
      await row.getByRole('button', { name: /^Redeliver/ }).click()
      await expect.poll(() => received.length).toBe(2)
      expect(received[1]).toEqual(received[0])
    })
  })

  it('creates a deploy token that clones, and revokes it', async () => {
    await as(async (page) => {
      await open(page, `${shopPage}/settings`)
      await page.getByRole('button', { name: 'New deploy token' }).click()
      const made = page.getByRole('dialog', { name: 'New deploy token' })
      await made.getByLabel('Name').fill('Rollout')
      await made.getByRole('button', { name: 'Create' }).click()
      const shown = page.getByRole('dialog', { name: 'Token Rollout' })
      const user = await shown.getByLabel('User name').inputValue()
      const secret = await shown.getByLabel('Secret').inputValue()
      const clone = async () => {
        const Authorization = `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
        const url = `${tree.url}/root/shop.git/info/refs?service=git-upload-pack`
        return (await fetch(url, { headers: { Authorization } })).status
      }
      expect(await clone()).toBe(200)
      await shown.getByRole('button', { name: 'Close' }).click()
      await page.getByRole('button', { name: 'Revoke Rollout' }).click()
      await page
        .getByRole('dialog', { name: 'Revoke Rollout' })
        .getByRole('button', { name: 'Revoke' })
        .click()
      await page.getByText('There are no deploy tokens').waitFor()
      await expect.poll(clone).toBe(401)
    })
  })

  it('reverts a commit after a preview', async () => {
    // The browser also logs the refused preview.
    const expects = /400 \(Bad Request\).*\/revert\)/
    await as(
      async (page) => {
        await open(page, `${shopPage}/commits/${data.commits[1]}`)
        await page.getByRole('button', { name: 'Revert…' }).click()
        const dialog = page.getByRole('dialog', { name: 'Revert' })
        await dialog.getByRole('region', { name: 'Preview' }).getByText('src/orders.ts').waitFor()
        // The lines have changed since then.
        await dialog.getByText('1 file has conflicts').waitFor()
        await dialog.getByRole('button', { name: 'Cancel' }).click()
        await open(page, `${shopPage}/commits/${newest}`)
        await page.getByRole('button', { name: 'Revert…' }).click()
        await dialog.getByText('The change fits').waitFor()
        await dialog.getByRole('button', { name: 'Revert', exact: true }).click()
        await page.getByRole('heading', { level: 1, name: /^Revert "Round prices/ }).waitFor()
      },
      { expects },
    )
    const [tip] = await api<{ title: string }[]>('GET', `${shop}/repository/commits?ref_name=main`)
    expect(tip?.title).toMatch(/^Revert "Round prices/)
  })
})

let looked: Promise<Access> | undefined
/** Opens every dialog once, for the tests of both themes. */
function brokenDialogs(): Promise<Access> {
  looked ??= reportFailed('dialog', 1).then(() =>
    // The preview of a cherry-pick is refused when the branch has the change.
    as((page) => lookAtEveryDialog(page, newest, 'dialog-0'), {
      expects: /400 \(Bad Request\).*\/cherry_pick\)/,
    }),
  )
  return looked
}

describe.skipIf(!browser)('dialogs', () => {
  it.each(themes)('meet the accessibility rules in the theme %s', async (theme) => {
    expect((await brokenDialogs())[theme]).toEqual({})
  })
})
