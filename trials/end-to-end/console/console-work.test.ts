import { launchBrowser } from '@switchyard/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Api, apiOf } from '../../support/api.js'
import { startTree, type Tree } from '../../support/tree.js'
import { violations } from './axe.js'
import { open, visit } from './console-browser.js'
import { type ExampleData, writeExampleData } from './example-data.js'

const browser: Browser | null = await launchBrowser()

let tree: Tree
let api: Api
let data: ExampleData
let newest: string

beforeAll(async () => {
  if (!browser) return
  tree = await startTree()
  api = apiOf(tree.url, tree.rootToken)
  data = await writeExampleData(api)
  newest = data.commits.at(-1) ?? ''
})
afterAll(async () => {
  await browser?.close()
  await tree?.stop()
})

/** Opens a window of the administrator, or of another user, which must have no error. */
async function as(use: (page: Page) => Promise<unknown>, token = tree.rootToken): Promise<void> {
  if (!browser) throw new Error('There is no browser')
  const { page, problems, close } = await visit(browser, { url: tree.url, token })
  try {
    await use(page)
    expect(problems).toEqual([])
  } finally {
    await close()
  }
}

const shop = '/projects/root%2Fshop'
const shopPage = '/projects/root/shop'

describe.skipIf(!browser)('work in the console', () => {
  it('comments on a line, on a removed line and on the commit', async () => {
    await as(async (page) => {
      await open(page, `/projects/root/shop/commits/${newest}`)
      const file = page.getByRole('region', { name: 'src/orders.ts' })
      await file.getByRole('button', { name: 'Comment on line 11', exact: true }).click()
      await file.getByLabel('Comment', { exact: true }).fill('Name <b>this</b> rate')
      await file.getByRole('button', { name: 'Add comment' }).click()
      await file.getByRole('article').filter({ hasText: 'Name <b>this</b> rate' }).waitFor()
      const comments = page.getByRole('region', { name: 'Comments' })
      await comments.getByLabel('New comment').fill('Looks good')
      await comments.getByRole('button', { name: 'Add comment' }).click()
      await comments.getByRole('article').filter({ hasText: 'Looks good' }).waitFor()
      await page.getByRole('radio', { name: 'Split' }).check()
      await expect.poll(() => new URL(page.url()).searchParams.get('view')).toBe('split')
    })
    const written = await api<{ note: string; path: string | null; line: number | null }[]>(
      'GET',
      `${shop}/repository/commits/${newest}/comments`,
    )
    expect(written).toContainEqual(
      expect.objectContaining({ note: 'Name <b>this</b> rate', path: 'src/orders.ts', line: 11 }),
    )
    expect(written).toContainEqual(expect.objectContaining({ note: 'Looks good', path: null }))
  })

  it('edits and deletes an own comment', async () => {
    const path = `${shop}/repository/commits/${newest}/comments`
    await as(async (page) => {
      await open(page, `/projects/root/shop/commits/${newest}`)
      const comments = page.getByRole('region', { name: 'Comments' })
      for (const note of ['First word', 'Last word']) {
        await comments.getByLabel('New comment').fill(note)
        await comments.getByRole('button', { name: 'Add comment' }).click()
        await comments.getByRole('article').filter({ hasText: note }).waitFor()
      }
      const first = comments.getByRole('article').filter({ hasText: 'First word' })
      await first.getByRole('button', { name: 'Edit' }).click()
      await comments.getByLabel('Edit comment').fill('Better word')
      await comments.getByRole('button', { name: 'Save' }).click()
      await comments.getByLabel('Edit comment').waitFor({ state: 'detached' })
      await comments.getByText('Better word').waitFor()
      const last = comments.getByRole('article').filter({ hasText: 'Last word' })
      await last.getByRole('button', { name: 'Delete' }).click()
      await page
        .getByRole('dialog', { name: 'Delete comment' })
        .getByRole('button', { name: 'Delete' })
        .click()
      await last.waitFor({ state: 'detached' })
    })
    const notes = (await api<{ note: string }[]>('GET', path)).map(({ note }) => note)
    expect(notes).toContain('Better word')
    expect(notes.filter((note) => /First word|Last word/.test(note))).toEqual([])
  })

  it('answers a comment, and keeps the focus beside a deleted one', async () => {
    await as(async (page) => {
      await open(page, `/projects/root/shop/commits/${newest}`)
      const comments = page.getByRole('region', { name: 'Comments' })
      for (const note of ['A question', 'Another question']) {
        await comments.getByLabel('New comment').fill(note)
        await comments.getByRole('button', { name: 'Add comment' }).click()
        await comments.getByRole('article').filter({ hasText: note }).waitFor()
      }
      const threadWith = (text: string) => comments.locator('div > article').filter({ hasText: text })
      const hasFocus = (text: string) =>
        expect
          .poll(() => threadWith(text).evaluate((article) => article === document.activeElement))
          .toBe(true)
      const remove = async (note: string) => {
        await comments.getByRole('button', { name: `Delete “${note}”` }).click()
        const dialog = page.getByRole('dialog', { name: 'Delete comment' })
        await dialog.getByRole('button', { name: 'Delete' }).click()
      }
      await comments.getByRole('button', { name: 'Reply to “A question”' }).click()
      await comments.getByLabel('Your reply').fill('An answer')
      // The second click meets a disabled button, which leaves the focus on an ancestor.
      await comments.getByRole('button', { name: 'Add reply' }).dblclick()
      const thread = threadWith('A question')
      await thread
        .getByRole('article', { name: /^Reply by / })
        .getByText('An answer')
        .waitFor()
      await hasFocus('A question')
      await remove('A question')
      await hasFocus('An answer')
      await remove('Another question')
      await hasFocus('An answer')
    })
    const path = `${shop}/repository/commits/${newest}/discussions?per_page=100`
    const threads = await api<{ notes: { body: string }[] }[]>('GET', path)
    expect(threads.map(({ notes }) => notes.map(({ body }) => body))).toContainEqual(['An answer'])
  })

  it('cherry-picks a commit to another branch after a preview', async () => {
    const { id } = await api<{ id: string }>('POST', `${shop}/repository/commits`, {
      branch: 'hotfix',
      start_branch: 'main',
      commit_message: 'Mend the total',
      actions: [{ action: 'create', file_path: 'src/mend.ts', content: 'export const mend = 1\n' }],
    })
    await as(async (page) => {
      await open(page, `/projects/root/shop/commits/${id}`)
      await page.getByRole('button', { name: 'Cherry-pick…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Cherry-pick' })
      await dialog.getByLabel('Branch').fill('main')
      await dialog.getByRole('region', { name: 'Preview' }).getByText('src/mend.ts').waitFor()
      await dialog.getByRole('button', { name: 'Cherry-pick', exact: true }).click()
      await page.waitForURL((url) => url.pathname.includes('/commits/') && !url.pathname.endsWith(id))
      await page.getByRole('heading', { level: 1, name: 'Mend the total' }).waitFor()
    })
    const [tip] = await api<{ title: string }[]>('GET', `${shop}/repository/commits?ref_name=main`)
    expect(tip?.title).toBe('Mend the total')
  })

  it('commits in the browser after a preview of the diff, as a developer', async () => {
    await as(async (page) => {
      await open(page, '/projects/root/shop/new-commit?ref=main')
      await page.getByLabel('Branch').fill('main')
      await page.getByLabel('Commit message').fill('Add notes')
      await page.getByLabel('File path').fill('NOTES.md')
      await page.getByLabel('Content').fill('one\ntwo\n')
      await page.getByRole('button', { name: 'Preview changes' }).click()
      await page.getByRole('region', { name: 'Preview' }).getByText('NOTES.md').first().waitFor()
      await page.getByRole('button', { name: 'Commit', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Add notes' }).waitFor()
      await page.getByRole('region', { name: 'NOTES.md' }).waitFor()
    }, data.tokens.developer)
  })

  it('shows a saga live while it runs', async () => {
    await as(async (page) => {
      await open(page, '/sagas')
      const table = page.getByRole('table', { name: 'Sagas' })
      const event = (operation: string, number: number, more: object = {}) => ({
        operation,
        event_id: `live-${number}`,
        saga_id: 'live-saga',
        ...more,
      })
      await page.waitForTimeout(1000)
      await api('POST', '/saga_events', { events: [event('SagaStarted', 1, { service_name: 'live' })] })
      const row = table.getByRole('row').filter({ hasText: 'live-saga' })
      await row.getByText('Started').waitFor()
      await page.getByRole('button', { name: 'Pause updates' }).click()
      await api('POST', '/saga_events', { events: [event('SagaEnded', 2)] })
      await page.getByRole('button', { name: 'Pause updates' }).click()
      await row.getByText('Ended').waitFor()
    })
  })

  /** Requests the same for several sagas, and withdraws it at once. */
  async function withdrawBatch(page: Page) {
    const filter = { service_name: 'failing' }
    const asked = { kind: 'cancel', reason: 'Enough', filter, expected_count: 3 }
    const { batch_id } = await api<{ batch_id: string }>('POST', '/sagas/commands', asked)
    await open(page, `/commands?batch=${batch_id}`)
    await page.getByRole('button', { name: 'Withdraw all…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Cancel saga: 3 commands, each for another saga.').waitFor()
    await dialog.getByRole('button', { name: 'Withdraw', exact: true }).click()
    await page.getByText('Changed 3 commands').waitFor()
    expect(await violations(page)).toEqual([])
  }

  it('adds a note to a saga and resolves failed ones', async () => {
    await api('POST', '/saga_events', {
      events: Array.from({ length: 3 }, (_, number) => [
        {
          operation: 'SagaStarted',
          event_id: `f${number}-1`,
          saga_id: `failed-${number}`,
          service_name: 'failing',
        },
        {
          operation: 'ActivityExecuteStarted',
          event_id: `f${number}-2`,
          saga_id: `failed-${number}`,
          activity_id: `failed-${number}-a`,
          time_out_seconds: 30,
        },
        {
          operation: 'ActivityCompensateAborted',
          event_id: `f${number}-3`,
          saga_id: `failed-${number}`,
          activity_id: `failed-${number}-a`,
          errors: 'The bank is closed',
        },
      ]).flat(),
    })
    await as(async (page) => {
      await open(page, '/sagas/failed-0')
      await page.getByLabel('New note').fill('Asked the bank')
      await page.getByRole('button', { name: 'Add note' }).click()
      await page.getByRole('region', { name: 'Notes' }).getByText('Asked the bank').waitFor()
      const commands = page.getByRole('region', { name: 'Commands' })
      await commands.getByRole('button', { name: 'Retry step…' }).click()
      const asking = page.getByRole('dialog', { name: 'Retry step' })
      await asking.getByText('about this saga alone, failed-0, and').waitFor()
      await asking.getByLabel('Reason').fill('The bank is open again')
      await asking.getByRole('button', { name: 'Retry step' }).click()
      const row = commands.getByRole('row').filter({ hasText: 'The bank is open again' })
      await row.getByText('pending', { exact: true }).waitFor()
      expect(await row.textContent()).toContain('failed-0-a')
      await row.getByRole('button', { name: 'Withdraw' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
      await row.getByText('withdrawn', { exact: true }).waitFor()
      await open(page, '/commands?state=withdrawn')
      const current = page.getByRole('navigation', { name: 'Main' }).locator('[aria-current=page]')
      expect(await current.allTextContents()).toEqual(['Sagas'])
      await page.getByRole('table', { name: 'Commands' }).getByRole('link', { name: 'failed-0' }).click()
      await page.getByRole('heading', { level: 1, name: 'failed-0' }).waitFor()
      await page.getByRole('button', { name: 'Resolve', exact: true }).click()
      const dialog = page.getByRole('dialog', { name: 'Resolve saga' })
      await dialog.getByLabel('Note').fill('Paid by hand')
      await dialog.getByRole('button', { name: 'Resolve', exact: true }).click()
      await page.getByText('Paid by hand').first().waitFor()
      await withdrawBatch(page)
      await open(page, '/sagas?service=failing&status=Error')
      await page.getByRole('button', { name: 'Resolve all…' }).click()
      const all = page.getByRole('dialog', { name: /2/ })
      await all.getByLabel('Note').fill('All paid by hand')
      await all.getByRole('button', { name: 'Resolve 2 sagas' }).click()
      const left = async () =>
        (await api<unknown[]>('GET', '/sagas?service_name=failing&status=Error')).length
      await expect.poll(left).toBe(0)
    })
  })
})

describe.skipIf(!browser)('pages of a project', () => {
  const tabsOf = (page: Page) =>
    page.getByRole('navigation', { name: 'Project' }).getByRole('link').allTextContents()

  it('offer a developer everything except the settings', async () => {
    await as(async (page) => {
      for (const below of ['', '/branches', '/pipelines', '/pipelines/1', '/deployments', '/releases']) {
        await open(page, `${shopPage}${below}`)
        expect(await page.getByRole('heading', { level: 1 }).textContent()).not.toMatch(/^Not/)
      }
      expect(await tabsOf(page)).toEqual([
        'Files',
        'Commits',
        'Branches',
        'Compare',
        'Pipelines',
        'Deployments',
        'Delivery',
        'Releases',
      ])
      await page.goto(`/console${shopPage}/settings`)
      await page.getByRole('heading', { level: 1, name: 'Not allowed' }).waitFor()
    }, data.tokens.developer)
  })

  it('show the disk use of a project, and let an administrator limit it', async () => {
    await as(async (page) => {
      await open(page, `${shopPage}/settings`)
      const storage = page.getByRole('region', { name: 'Storage' })
      await storage
        .getByText(
          /without a limit: .+ in the repository, 0 B in packages, uploads and Git LFS, 0 B in reports/,
        )
        .waitFor()
      await storage.getByLabel('Limit of this project in bytes').fill('1073741824')
      await storage.getByRole('button', { name: 'Set the limit' }).click()
      await storage.getByText(/of 1.0 GiB: /).waitFor()
      await storage.getByRole('meter', { name: 'Storage in use' }).waitFor()
    })
    const { repository_size_limit } = await api<{ repository_size_limit: number }>('GET', shop)
    expect(repository_size_limit).toBe(1_073_741_824)
  })

  it('let a maintainer without the list of users add one by name, and keep the page of a list in the address', async () => {
    const secrets: string[] = []
    for (const username of ['mia', 'noah']) {
      const profile = { username, name: username, email: `${username}@example.com` }
      const { id } = await api<{ id: number }>('POST', '/users', profile)
      const token = { name: 'console', scopes: ['api'] }
      const made = await api<{ token: string }>('POST', `/users/${id}/personal_access_tokens`, token)
      secrets.push(made.token)
    }
    await api('POST', `${shop}/members`, { username: 'mia', access_level: 40 })
    await as(async (page) => {
      await open(page, `${shopPage}/settings?members=2`)
      const members = page.getByRole('region', { name: 'Members' })
      await members.getByRole('button', { name: 'Previous' }).click()
      await members.getByText('mia').first().waitFor()
      expect(new URL(page.url()).search).toBe('')
      await members.getByRole('button', { name: 'Add member' }).click()
      const dialog = page.getByRole('dialog', { name: 'Add member' })
      await dialog.getByLabel('Username').fill('noah')
      await dialog.getByRole('button', { name: 'Create' }).click()
      await members.getByText('noah').first().waitFor()
    }, secrets[0] ?? '')
  })

  it('show a guest of a private project its releases, and send no request that would be refused', async () => {
    const guest = await api<{ id: number }>('POST', '/users', {
      username: 'gus',
      name: 'Gus',
      email: 'gus@example.com',
    })
    const { token } = await api<{ token: string }>('POST', `/users/${guest.id}/personal_access_tokens`, {
      name: 'guest',
      scopes: ['api'],
    })
    await api('POST', `${shop}/members`, { user_id: guest.id, access_level: 10 })
    await as(async (page) => {
      await open(page, '/')
      await page.getByRole('link', { name: 'root/shop' }).waitFor()
      await open(page, `${shopPage}/releases`)
      await page.getByRole('region', { name: 'Summer' }).waitFor()
      expect(await tabsOf(page)).toEqual(['Releases'])
      for (const below of [
        '',
        `/commits/${newest}`,
        '/files/main/',
        '/pipelines',
        '/deployments',
        '/new-commit',
      ]) {
        await page.goto(`/console${shopPage}${below}`)
        await page.getByRole('heading', { level: 1, name: 'Not allowed' }).waitFor()
      }
    }, token)
  })
})
