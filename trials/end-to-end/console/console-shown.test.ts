import { launchBrowser } from '@switchyard/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Api, apiOf } from '../../support/api.js'
import { startTree, type Tree } from '../../support/tree.js'
import { open, settled, signIn, type Visit, visit } from './console-browser.js'
import { type HardData, hardAddresses, writeHardData } from './hard-data.js'

const browser: Browser | null = await launchBrowser()

let tree: Tree
let api: Api
let data: HardData

beforeAll(async () => {
  if (!browser) return
  tree = await startTree()
  api = apiOf(tree.url, tree.rootToken)
  data = await writeHardData(api)
})
afterAll(async () => {
  await browser?.close()
  await tree?.stop()
})

type Given = Partial<Parameters<typeof visit>[1]>

async function withVisit(given: Given, use: (visit: Visit) => Promise<unknown>): Promise<void> {
  if (!browser) throw new Error('There is no browser')
  const opened = await visit(browser, { url: tree.url, token: tree.rootToken, ...given })
  try {
    await use(opened)
    // One of the pages belongs to a missing project.
    expect(opened.problems.filter((problem) => !/404.*root%2Fnnn/.test(problem))).toEqual([])
  } finally {
    await opened.close()
  }
}

const asRoot = (use: (page: Page) => Promise<unknown>) => withVisit({}, ({ page }) => use(page))

const control = /\p{Bidi_Control}|[^\P{Cc}\t\n\r]|[\u200b\ufeff]/u

interface Shown {
  name: string
  /** Width of the document. */
  width: number
  /** Texts of its elements and of the attributes that people read, the title first. */
  texts: string[]
}

const looked = new Map<number, Promise<Shown[]>>()

/** Reads all pages in a window of the given width, for several tests. */
function pagesIn(width: number): Promise<Shown[]> {
  const found = looked.get(width) ?? lookAtPages(width)
  looked.set(width, found)
  return found
}

async function lookAtPages(width: number): Promise<Shown[]> {
  const pages: Shown[] = []
  await withVisit({ width }, async ({ page }) => {
    for (const [name, address] of Object.entries(hardAddresses(data))) {
      await open(page, address)
      pages.push({ name, ...(await page.evaluate(readPage)) })
    }
  })
  return pages
}

/** Runs in the browser: reads the current page. */
function readPage(): Omit<Shown, 'name'> {
  const read = ['title', 'aria-label', 'alt', 'placeholder']
  // A field contains its text for editing.
  const elements = [...document.querySelectorAll('body *:not(textarea, script)')]
  const texts = elements.flatMap((element) => [
    ...read.map((attribute) => element.getAttribute(attribute) ?? ''),
    ...[...element.childNodes].flatMap((node) =>
      node.nodeType === Node.TEXT_NODE ? [node.textContent ?? ''] : [],
    ),
  ])
  return { width: document.documentElement.scrollWidth, texts: [document.title, ...texts] }
}

const focused = (page: Page) =>
  page.evaluate(() => `${document.activeElement?.tagName} ${document.activeElement?.textContent}`)

describe.skipIf(!browser)('pages of the console', () => {
  it.each([1280, 390])(
    'are never wider than a window of %d, however long a text without blanks is',
    async (width) => {
      const wide = (await pagesIn(width)).filter((page) => page.width > width)
      expect(wide.map((page) => `${page.name} ${page.width}`)).toEqual([])
    },
  )

  it('show no control character and no hidden character, in any text or attribute', async () => {
    const pages = await pagesIn(1280)
    const hidden = pages.map(({ name, texts }) => ({
      name,
      texts: texts.filter((text) => control.test(text)),
    }))
    expect(hidden.filter(({ texts }) => texts.length > 0)).toEqual([])
    const shown = pages.flatMap(({ texts: [_title, ...texts] }) =>
      texts.filter((text) => text.includes('U+202E')),
    )
    expect(shown.length).toBeGreaterThan(20)
  })

  it('link to the right thing, whatever its text looks like', async () => {
    await asRoot(async (page) => {
      await open(page, '/sagas')
      await page.getByRole('link', { name: 'safeU+202Egpj.exe' }).click()
      await page.getByRole('heading', { level: 1, name: 'safeU+202Egpj.exe' }).waitFor()
      expect(decodeURIComponent(new URL(page.url()).pathname)).toBe('/console/sagas/safe\u202egpj.exe')
    })
  })

  it('put the focus on their heading when they are opened', async () => {
    await asRoot(async (page) => {
      const main = page.getByRole('navigation', { name: 'Main' })
      const missed: string[] = []
      const expectHeading = async (name: string) => {
        await page.getByRole('heading', { level: 1, name }).first().waitFor()
        await settled(page)
        if ((await focused(page)) !== `H1 ${name}`) missed.push(`${name}: ${await focused(page)}`)
      }
      const names = ['Sagas', 'Failures', 'Projects', 'Broadcasts', 'Queues', 'Users', 'Tokens']
      for (const name of [...names, 'Audit log', 'System', 'Docs', 'Overview']) {
        await main.getByRole('link', { name, exact: true }).click()
        await expectHeading(name)
      }
      await main.getByRole('link', { name: 'Sagas', exact: true }).click()
      await page.getByRole('link', { name: 'safeU+202Egpj.exe' }).click()
      await expectHeading('safeU+202Egpj.exe')
      await main.getByRole('link', { name: 'Projects', exact: true }).click()
      await page.getByRole('link', { name: 'root/hard' }).click()
      await expectHeading('Commits')
      const parts = page.getByRole('navigation', { name: 'Project' })
      for (const name of [
        'Files',
        'Compare',
        'Pipelines',
        'Deployments',
        'Delivery',
        'Releases',
        'Settings',
      ]) {
        await parts.getByRole('link', { name, exact: true }).click()
        await expectHeading(name)
      }
      await page.goBack()
      await expectHeading('Releases')
      expect(missed).toEqual([])
    })
  })

  it('keep the focus while the reader stays on them', async () => {
    await asRoot(async (page) => {
      await open(page, '/projects')
      const search = page.getByRole('searchbox', { name: 'Search' })
      await search.fill('hard')
      await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('hard')
      await settled(page)
      expect(await search.evaluate((field) => field === document.activeElement)).toBe(true)
    })
  })

  it('follow the theme of the system while they are open', async () => {
    await asRoot(async (page) => {
      const theme = () => page.evaluate(() => document.documentElement.dataset.theme)
      expect(await theme()).toBe('light')
      await page.emulateMedia({ colorScheme: 'dark' })
      await expect.poll(theme).toBe('dark')
      await page.emulateMedia({ colorScheme: 'light' })
      await expect.poll(theme).toBe('light')
    })
  })

  it.each([1, -1])(
    "show times by the clock of the server when the browser's is %d hour off",
    async (hours) => {
      await withVisit({ clockAheadMs: hours * 3_600_000 }, async ({ page }) => {
        const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
        const write = (message: string, from: number, to: number) =>
          api('POST', '/broadcast_messages', { message, starts_at: inMinutes(from), ends_at: inMinutes(to) })
        await write(`now ${hours}`, -20, 20)
        await write(`soon ${hours}`, 20, 40)
        await write(`over ${hours}`, -40, -20)
        await open(page, '/broadcasts')
        const row = (text: string) => page.getByRole('row').filter({ hasText: `${text} ${hours}` })
        await row('now').getByText('shown now').waitFor()
        await row('soon').getByText('planned').waitFor()
        await row('over').getByText('over', { exact: true }).waitFor()
        await row('soon').getByText('in 19 minutes').waitFor()
        await row('over').getByText('20 minutes ago').waitFor()
        await page.getByRole('button', { name: 'New broadcast' }).click()
        const starts = await page.getByLabel('Starts', { exact: true }).inputValue()
        const shown = new Intl.DateTimeFormat('sv', {
          timeZone: 'Europe/Berlin',
          dateStyle: 'short',
          timeStyle: 'medium',
        })
        const distance =
          Date.parse(`${starts}Z`) - Date.parse(`${shown.format(new Date()).replace(' ', 'T')}Z`)
        expect(Math.abs(distance)).toBeLessThan(60_000)
        const saga = `deadline-${hours}`
        await api('POST', '/saga_events', {
          events: [
            { operation: 'SagaStarted', event_id: `${saga}-1`, saga_id: saga, service_name: 'clock' },
            {
              operation: 'ActivityExecuteStarted',
              event_id: `${saga}-2`,
              saga_id: saga,
              activity_id: `${saga}-a`,
              time_out_seconds: 1800,
            },
          ],
        })
        await open(page, `/sagas/${saga}`)
        await page.getByRole('table', { name: 'Activities' }).getByText('Executing').waitFor()
        expect(await page.getByText('past its deadline').count()).toBe(0)
      })
    },
  )

  it('open a project with Enter in the palette, even before the search has answered', async () => {
    await asRoot(async (page) => {
      await page.route('**/api/v4/projects?*', async (route) => {
        const answer = await route.fetch()
        await new Promise((resolve) => setTimeout(resolve, 700))
        await route.fulfill({ response: answer })
      })
      await page.keyboard.press('Control+k')
      const field = page.getByRole('dialog', { name: 'Command palette' }).getByRole('combobox')
      await field.fill('root/hard')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Commits' }).waitFor()
      await page.keyboard.press('Control+k')
      await field.fill('safe\u202egpj.exe')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'safeU+202Egpj.exe' }).waitFor()
      await page.keyboard.press('Control+k')
      await field.fill('audit')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
      // The last search is still running.
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    })
  })

  it('show no zero for unknown values', async () => {
    if (!browser) return
    const { page, close } = await visit(browser, { url: tree.url, token: tree.rootToken })
    try {
      await page.route('**/api/v4/sagas?*', (route) => route.abort())
      await page.goto('/console/')
      const sagas = page.getByRole('region', { name: 'Sagas' })
      await sagas.getByRole('alert').getByText('The server does not answer').waitFor({ timeout: 30_000 })
      for (const flag of ['in error', 'stuck', 'overdue', 'parked', 'inconsistent'])
        await expect.poll(() => sagas.textContent()).toContain(`–${flag}`)
    } finally {
      await close()
    }
  })

  it('show each entry of the audit log once while new ones arrive', async () => {
    for (let number = 0; number < 60; number += 1) await api('PUT', '/users/1', { name: `Root ${number}` })
    await asRoot(async (page) => {
      await open(page, '/admin/audit?event_name=user_updated')
      const times = () =>
        page
          .getByRole('table', { name: 'Audit log' })
          .locator('time')
          .evaluateAll((shown) => shown.map((time) => time.getAttribute('datetime')))
      const first = await times()
      expect(first).toHaveLength(50)
      for (let number = 60; number < 65; number += 1) await api('PUT', '/users/1', { name: `Root ${number}` })
      await page.getByRole('button', { name: 'Next' }).click()
      await expect.poll(async () => (await times()).length).toBeLessThan(50)
      const second = await times()
      expect(second.filter((time) => first.includes(time))).toEqual([])
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
      await expect.poll(times).toEqual(second)
      await page.getByRole('button', { name: 'First' }).click()
      await expect.poll(async () => (await times()).length).toBe(50)
    })
  })

  it('copy texts without TLS', async () => {
    const plain = await launchBrowser(['--host-resolver-rules=MAP console.example 127.0.0.1'])
    if (!plain) return
    try {
      const url = `http://console.example:${tree.httpPort}`
      const { page, close } = await visit(plain, { url })
      await signIn(page, tree.rootToken)
      expect(await page.evaluate(() => globalThis.isSecureContext)).toBe(false)
      await open(page, '/admin/tokens')
      await page.getByRole('button', { name: 'New token' }).click()
      const dialog = page.getByRole('dialog', { name: 'New token' })
      await dialog.getByLabel('User').fill('root')
      await dialog.getByLabel('Name').fill('copied')
      await dialog.getByRole('checkbox', { name: 'read_api', exact: true }).check()
      await dialog.getByRole('button', { name: 'Create' }).click()
      const field = page.getByLabel('Secret')
      const secret = await field.inputValue()
      await page.getByRole('button', { name: 'Copy', exact: true }).click()
      await page.getByRole('status').getByText('Copied').waitFor()
      await page.getByRole('button', { name: 'Close' }).click()
      await page.getByRole('searchbox').focus()
      await page.keyboard.press('Control+v')
      expect(await page.getByRole('searchbox').inputValue()).toBe(secret)
      await close()
    } finally {
      await plain.close()
    }
  })

  it('offer sagas as CSV with or without the byte order mark that Excel needs', async () => {
    await asRoot(async (page) => {
      await open(page, '/sagas?service=hard')
      const link = page.getByRole('link', { name: 'Export as CSV' })
      const parameters = async () =>
        new URL((await link.getAttribute('href')) ?? '', tree.url).searchParams.toString()
      expect(await parameters()).toBe('service_name=hard&format=csv&bom=true')
      await page.getByLabel('for Excel').uncheck()
      expect(await parameters()).toBe('service_name=hard&format=csv&bom=false')
    })
  })
})
