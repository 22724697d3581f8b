import { createHash, randomBytes } from 'node:crypto'
import { launchBrowser } from '@switchyard/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Api, apiOf } from '../../support/api.js'
import { startTree, type Tree } from '../../support/tree.js'
import { open, visit } from './console-browser.js'
import { type ExampleData, writeExampleData } from './example-data.js'

const browser: Browser | null = await launchBrowser()
const largestBytes = 4 * 1024 * 1024

let tree: Tree
let api: Api
let data: ExampleData

beforeAll(async () => {
  if (!browser) return
  tree = await startTree({
    env: { PACKAGE_FILE_BYTES_MAX: String(largestBytes), UPLOAD_BYTES_MAX: String(largestBytes) },
  })
  api = apiOf(tree.url, tree.rootToken)
  data = await writeExampleData(api)
  await api('POST', `${shop}/releases`, { tag_name: 'candidate', ref: 'main', name: 'Autumn' })
})
afterAll(async () => {
  await browser?.close()
  await tree?.stop()
})

const shop = '/projects/root%2Fshop'
const releasesPage = '/projects/root/shop/releases'

/**
 * Opens a window of the administrator, or of another user. Errors that the test provokes do not count as
 * errors of the page.
 */
async function as(
  use: (page: Page) => Promise<unknown>,
  { token = tree.rootToken, provoked = /^$/ } = {},
): Promise<void> {
  if (!browser) throw new Error('There is no browser')
  const { page, problems, close } = await visit(browser, { url: tree.url, token })
  try {
    await use(page)
    expect(problems.filter((problem) => !provoked.test(problem))).toEqual([])
  } finally {
    await close()
  }
}

const fileOf = (name: string, buffer: Buffer) => ({ name, buffer, mimeType: 'text/html' })

/** Drops a file, like a person with a mouse. */
async function drop(page: Page, onto: ReturnType<Page['getByRole']>, name: string, text: string) {
  const dataTransfer = await page.evaluateHandle(
    ([name = '', text = '']) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text], name))
      return transfer
    },
    [name, text],
  )
  await onto.dispatchEvent('dragover', { dataTransfer })
  await onto.dispatchEvent('drop', { dataTransfer })
}

/**
 * Makes the network of a page slow, and waits for it, because the browser applies this later than it answers.
 */
async function slowDown(page: Page): Promise<void> {
  const latency = 300
  const network = await page.context().newCDPSession(page)
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency,
    downloadThroughput: -1,
    uploadThroughput: 100_000,
  })
  const fetchMs = () =>
    page.evaluate(async () => {
      const startedMs = performance.now()
      await fetch('/console/', { cache: 'no-store' })
      return performance.now() - startedMs
    })
  await expect.poll(fetchMs).toBeGreaterThanOrEqual(latency)
}

interface Link {
  name: string
  link_type: string
  direct_asset_url: string
  sha256?: string
}

const linksOf = (tag: string) => api<Link[]>('GET', `${shop}/releases/${tag}/assets/links`)

describe.skipIf(!browser)('files in the console', () => {
  it('are added to a release by keyboard and by mouse, downloaded and removed', async () => {
    const bytes = randomBytes(100_000)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    await as(async (page) => {
      await open(page, releasesPage)
      const release = page.getByRole('region', { name: 'Autumn' })
      await release.getByLabel('Kind of the files uploaded to candidate').selectOption('runbook')
      const choosing = page.waitForEvent('filechooser')
      await release.getByRole('button', { name: 'Upload files to candidate' }).focus()
      await page.keyboard.press('Enter')
      await (await choosing).setFiles([
        fileOf('Manual (final).html', bytes),
        fileOf('two.zip', randomBytes(10)),
      ])
      const assets = release.getByRole('list', { name: 'Assets' })
      await assets.getByText(sha256).waitFor()
      await assets.getByText('97.7 KiB').waitFor()
      await drop(page, release.getByRole('group', { name: 'Files of candidate' }), 'notes.txt', 'dropped')
      await release.getByRole('status').getByText('notes.txt is uploaded.').waitFor()
      const downloading = page.waitForEvent('download')
      await assets.getByRole('link', { name: 'Manual (final).html' }).click()
      expect((await downloading).suggestedFilename()).toBe('Manual-final-.html')
      const links = await linksOf('candidate')
      expect(links.map(({ name, link_type }) => [name, link_type])).toEqual([
        ['notes.txt', 'runbook'],
        ['two.zip', 'runbook'],
        ['Manual (final).html', 'runbook'],
      ])
      expect(links.at(-1)).toMatchObject({
        sha256,
        direct_asset_url: expect.stringMatching(
          /\/root\/shop\/-\/releases\/candidate\/downloads\/Manual-final-\.html$/,
        ),
      })
      await assets.getByRole('button', { name: 'Remove two.zip' }).click()
      await page
        .getByRole('dialog', { name: 'Remove two.zip' })
        .getByRole('button', { name: 'Remove' })
        .click()
      await expect.poll(() => assets.getByText('two.zip').count()).toBe(0)
    })
    const [made] = await api<{ id: number }[]>('GET', `${shop}/packages?package_name=release-files`)
    const files = await api<{ file_name: string }[]>('GET', `${shop}/packages/${made?.id}/package_files`)
    expect(files.map(({ file_name }) => file_name)).toEqual(['Manual-final-.html', 'notes.txt'])
  })

  it('that cannot be added are named with the reason, retried or canceled, and leave nothing', async () => {
    await as(
      async (page) => {
        await open(page, releasesPage)
        const release = page.getByRole('region', { name: 'Autumn' })
        const input = release.locator('input[type=file]')
        const alert = (text: RegExp) => release.getByRole('alert').getByText(text)
        await input.setInputFiles([
          fileOf('large.bin', Buffer.alloc(largestBytes + 1)),
          fileOf('notes.txt', Buffer.from('again')),
          fileOf('…', Buffer.from('x')),
        ])
        await alert(/^large\.bin is not uploaded: A file can have \d+ bytes at most$/).waitFor()
        await alert(/^notes\.txt is not uploaded: The release has a file of this name/).waitFor()
        await alert(/^… is not uploaded: Its name/).waitFor()
        for (const name of ['large.bin', 'notes.txt', '…'])
          await release.getByRole('button', { name: `Dismiss ${name}` }).click()

        await page.context().setOffline(true)
        await input.setInputFiles(fileOf('later.txt', Buffer.from('later')))
        await alert(/^later\.txt is not uploaded: The server does not answer/).waitFor()
        await page.context().setOffline(false)
        await release.getByRole('button', { name: 'Try again: later.txt' }).click()
        await release.getByRole('status').getByText('later.txt is uploaded.').waitFor()

        const links = '**/assets/links'
        await page.route(links, (route) => route.abort('internetdisconnected'))
        await input.setInputFiles(fileOf('unlinked.txt', Buffer.from('unlinked')))
        await alert(/^unlinked\.txt is not uploaded: The server does not answer/).waitFor()
        await page.unroute(links)
        const deleted = page.waitForResponse((answer) => answer.request().method() === 'DELETE')
        await release.getByRole('button', { name: 'Dismiss unlinked.txt' }).click()
        expect((await deleted).status()).toBe(204)

        await slowDown(page)
        await input.setInputFiles(fileOf('slow.bin', randomBytes(2_000_000)))
        const progress = release.getByRole('progressbar', { name: 'Upload of slow.bin' })
        const sent = async () => Number(await progress.getAttribute('value'))
        await expect.poll(sent).toBeGreaterThan(0)
        await release.getByRole('button', { name: 'Cancel the upload of slow.bin' }).click()
        await expect.poll(() => release.getByRole('list', { name: 'Uploads' }).count()).toBe(0)
      },
      { provoked: /status of 413|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION/ },
    )
    expect((await linksOf('candidate')).map(({ name }) => name)).not.toContain('slow.bin')
    const [made] = await api<{ id: number }[]>('GET', `${shop}/packages?package_name=release-files`)
    const files = await api<{ file_name: string }[]>('GET', `${shop}/packages/${made?.id}/package_files`)
    expect(files.map(({ file_name }) => file_name)).toEqual(['Manual-final-.html', 'notes.txt', 'later.txt'])
  })

  it('wait on the page when the session ends, and continue after signing in again', async () => {
    const make = () =>
      api<{ id: number; token: string }>('POST', '/users/1/personal_access_tokens', {
        name: 'short',
        scopes: ['api'],
      })
    const [first, second] = [await make(), await make()]
    await as(
      async (page) => {
        await open(page, releasesPage)
        const release = page.getByRole('region', { name: 'Autumn' })
        const input = release.locator('input[type=file]')
        await input.setInputFiles(fileOf('…', Buffer.from('x')))
        await release.getByRole('button', { name: 'Dismiss …' }).waitFor()
        await api('DELETE', `/personal_access_tokens/${first.id}`)
        await input.setInputFiles(fileOf('held.txt', Buffer.from('held')))
        const dialog = page.getByRole('dialog', { name: 'Sign in again' })
        await dialog.getByLabel('Access token').fill(second.token)
        await dialog.getByRole('button', { name: 'Sign in' }).click()
        await release.getByRole('button', { name: 'Try again: held.txt' }).click()
        await release.getByRole('status').getByText('held.txt is uploaded.').waitFor()
      },
      { token: first.token, provoked: /status of (401|404)/ },
    )
  })

  it('are attached to comments: chosen, dropped and pasted; only pictures of the project are displayed', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    await as(async (page) => {
      await open(page, `/projects/root/shop/commits/${data.commits.at(-1)}`)
      const comments = page.getByRole('region', { name: 'Comments' })
      const text = comments.getByLabel('New comment')
      await text.fill('Look: <img src=x> ![x](https://evil.example/x.png)')
      await comments.locator('input[type=file]').setInputFiles(fileOf('shot.png', png))
      await expect
        .poll(() => text.inputValue())
        .toMatch(/\n!\[shot\]\(\/uploads\/[0-9a-f]{32}\/shot\.png\)\n$/)
      await drop(page, comments.getByRole('group', { name: 'Attachments' }), 'page.svg', '<svg/>')
      await expect.poll(() => text.inputValue()).toContain('[page.svg](/uploads/')
      await text.evaluate((field) => {
        const clipboardData = new DataTransfer()
        clipboardData.items.add(new File(['log'], 'build.log'))
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
      })
      await expect.poll(() => text.inputValue()).toContain('[build.log](/uploads/')
      await comments.getByRole('button', { name: 'Add comment' }).click()
      const comment = comments.getByRole('article').last()
      await comment.getByText('<img src=x> ![x](https://evil.example/x.png)').waitFor()
      await expect.poll(() => comments.getByText('is uploaded.').count()).toBe(0)
      const picture = comment.getByRole('img', { name: 'shot' })
      await expect.poll(() => picture.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBe(1)
      expect(await comment.getByRole('img').count()).toBe(1)
      const downloading = page.waitForEvent('download')
      await comment.getByRole('link', { name: 'page.svg' }).click()
      expect((await downloading).suggestedFilename()).toBe('page.svg')
    })
  })

  it('are not offered to users who may not push', async () => {
    await api('POST', `${shop}/members`, { username: 'grace', access_level: 20 })
    await as(
      async (page) => {
        await open(page, releasesPage)
        const release = page.getByRole('region', { name: 'Autumn' })
        await release.getByRole('link', { name: 'notes.txt' }).waitFor()
        expect(await page.getByRole('button', { name: /Upload|Remove/ }).count()).toBe(0)
      },
      { token: data.tokens.outsider },
    )
    await as(
      async (page) => {
        await open(page, releasesPage)
        const release = page.getByRole('region', { name: 'Autumn' })
        await release.getByRole('button', { name: 'Upload files to candidate' }).waitFor()
        expect(await page.getByRole('button', { name: /Remove/ }).count()).toBe(0)
      },
      { token: data.tokens.developer },
    )
  })
})
