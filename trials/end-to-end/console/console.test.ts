import { launchBrowser } from '@switchyard/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Api, apiOf } from '../../support/api.js'
import { startTree, type Tree } from '../../support/tree.js'
import { open, settled, signIn, type Visit, visit } from './console-browser.js'
import { lookAtEveryPage, themes, type Wrong } from './every-page.js'
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

/**
 * Opens the console for the holder of a token, and closes it afterwards. The page must have no error that the
 * test does not expect.
 */
async function withVisit<Result>(
  given: { token?: string; width?: number; expects?: RegExp },
  use: (visit: Visit) => Promise<Result>,
): Promise<Result> {
  if (!browser) throw new Error('There is no browser')
  const opened = await visit(browser, { url: tree.url, ...given })
  try {
    const result = await use(opened)
    expect(opened.problems.filter((problem) => !given.expects?.test(problem))).toEqual([])
    return result
  } finally {
    await opened.close()
  }
}

const asRoot = <Result>(use: (page: Page) => Promise<Result>) =>
  withVisit({ token: tree.rootToken }, ({ page }) => use(page))

let looked: Promise<Wrong> | undefined
/** Opens every page once, for several tests. */
const wrongPages = () => {
  looked ??= withVisit({ token: tree.rootToken }, ({ page }) => lookAtEveryPage(page, newest))
  return looked
}

describe.skipIf(!browser)('the console', () => {
  describe.each(themes)('in the theme %s', (theme) => {
    it('shows every page without an error, within the accessibility rules, and unchanged after a reload', async () => {
      expect((await wrongPages()).access[theme]).toEqual({})
    })
  })

  it('is readable on a phone: no page is wider than the screen, and no heading breaks within a word', async () => {
    const { wide, brokenWords } = await wrongPages()
    expect(wide).toEqual([])
    expect(brokenWords).toEqual([])
    await withVisit({ token: tree.rootToken, width: 390 }, async ({ page }) => {
      await page.getByRole('button', { name: 'Menu' }).click()
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sagas' }).click()
      await page.getByRole('heading', { level: 1, name: 'Sagas' }).waitFor()
    })
  })

  it('draws the history of a branch as one line', async () => {
    await withVisit({ token: tree.rootToken }, async ({ page }) => {
      await open(page, '/projects/root/shop')
      const graphs = page.getByRole('table', { name: 'Commits' }).locator('svg')
      const boxes = await Promise.all((await graphs.all()).map((graph) => graph.boundingBox()))
      expect(boxes.length).toBeGreaterThan(2)
      const gaps = boxes
        .slice(1)
        .map((box, index) => (box?.y ?? 0) - ((boxes[index]?.y ?? 0) + (boxes[index]?.height ?? 0)))
      expect(Math.max(...gaps)).toBeLessThanOrEqual(0)
    })
  })

  it('shows that a saga whose id is a word of the API has no page', async () => {
    const event = {
      operation: 'SagaStarted',
      event_id: 'word-1',
      saga_id: 'webhooks',
      service_name: 'booking',
    }
    await api('POST', '/saga_events', { events: [event] })
    await withVisit({ token: tree.rootToken }, async ({ page }) => {
      await open(page, '/sagas/webhooks')
      await page.getByRole('heading', { level: 1, name: 'webhooks' }).waitFor()
      await page.getByRole('main').getByRole('link', { name: 'list of sagas' }).click()
      await page.getByRole('table', { name: 'Sagas' }).getByRole('link', { name: 'webhooks' }).waitFor()
    })
  })

  describe('an anonymous visitor', () => {
    it('is asked to sign in, and returns to the requested page', async () => {
      await withVisit({}, async ({ page }) => {
        await page.goto('/console/sagas?status=Started')
        await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
        await page.getByLabel('Access token').fill(tree.rootToken)
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.getByRole('heading', { level: 1, name: 'Sagas' }).waitFor()
        expect(new URL(page.url()).search).toBe('?status=Started')
      })
    })

    it('is not led to another site by the address of the sign-in page', async () => {
      await withVisit({}, async ({ page }) => {
        await page.goto('/console/sign-in?next=https%3A%2F%2Fevil.example%2Fconsole%2F')
        await page.getByLabel('Access token').fill(tree.rootToken)
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
        expect(new URL(page.url()).origin).toBe(tree.url)
      })
    })

    it('sees an error for a wrong token', async () => {
      if (!browser) return
      const { page, close } = await visit(browser, { url: tree.url })
      await page.goto('/console/sign-in')
      await page.getByLabel('Access token').fill('wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      expect(await page.getByRole('alert').textContent()).toMatch(/\w/)
      await close()
    })

    it('leaves no token in the browser, and the old cookie is invalid after signing out', async () => {
      // The streams of a session end with it.
      const expects = /\/stream\b.*ERR_INCOMPLETE_CHUNKED|ERR_INCOMPLETE_CHUNKED.*\/stream\b/
      await withVisit({ expects }, async ({ page, context }) => {
        await signIn(page, tree.rootToken)
        const kept = await page.evaluate(
          () => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie,
        )
        expect(kept).not.toContain(tree.rootToken)
        const [cookie] = await context.cookies()
        expect(cookie).toMatchObject({ name: 'switchyard_session', httpOnly: true, sameSite: 'Strict' })
        await page.getByRole('button', { name: 'Account' }).click()
        await page.getByRole('menuitem', { name: 'Sign out' }).click()
        await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
        const answer = await fetch(`${tree.url}/api/v4/user`, {
          headers: { Cookie: `switchyard_session=${cookie?.value}` },
        })
        expect(answer.status).toBe(401)
      })
    })
  })

  describe('features without permission', () => {
    it('are not offered to an ordinary user, and their pages say so without a request', async () => {
      await withVisit({ token: data.tokens.developer }, async ({ page }) => {
        const links = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents()
        expect(links).toEqual(['Overview', 'Projects', 'Services', 'Tokens', 'Docs'])
        await page.getByText('left out: failures of sagas, latency of queues.').waitFor()
        const asked: string[] = []
        page.on('request', (request) => asked.push(new URL(request.url()).pathname))
        for (const address of [
          '/sagas',
          '/saga-webhooks',
          '/failures',
          '/broadcasts',
          '/queues',
          '/admin/users',
          '/admin/audit',
          '/system',
        ]) {
          await page.goto(`/console${address}`)
          await page.getByRole('heading', { level: 1, name: 'Not allowed' }).waitFor()
        }
        const api = asked.filter(
          (path) => path.startsWith('/api/') && !/\/(session|broadcast_messages\/stream)$/.test(path),
        )
        expect(api).toEqual([])
      })
    })

    it('are not offered to a token that only reads sagas', async () => {
      await withVisit({ token: data.tokens.sagaReader }, async ({ page }) => {
        const links = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents()
        expect(links).toEqual(['Overview', 'Sagas', 'Failures', 'Docs'])
        await page.getByText('left out: deployments, freezes, latency of queues.').waitFor()
        await open(page, '/sagas/order-1003')
        expect(await page.getByRole('button', { name: 'Resolve' }).count()).toBe(0)
        await page.goto('/console/saga-webhooks')
        await page.getByRole('heading', { level: 1, name: 'Not allowed' }).waitFor()
      })
    })

    it('hide a private project from users who are not members', async () => {
      if (!browser) return
      const { page, close } = await visit(browser, { url: tree.url, token: data.tokens.outsider })
      await page.goto('/console/projects/root/shop')
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
      await close()
    })
  })

  it('include changes with the cookie from another origin, which are refused', async () => {
    await withVisit({ token: tree.rootToken }, async ({ context }) => {
      const [cookie] = await context.cookies()
      const call = (headers: Record<string, string>) =>
        fetch(`${tree.url}/api/v4/projects`, {
          method: 'POST',
          headers: {
            Cookie: `switchyard_session=${cookie?.value}`,
            'Content-Type': 'application/json',
            ...headers,
          },
          body: JSON.stringify({ name: 'forged' }),
        })
      expect((await call({ 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
      expect((await call({ 'Sec-Fetch-Site': 'same-site' })).status).toBe(403)
      expect((await call({ Origin: 'https://evil.example' })).status).toBe(403)
      expect((await call({})).status).toBe(403)
      expect(await api('GET', '/projects?search=forged')).toEqual([])
    })
  })

  it('the keyboard controls the palette, the search, the list, and the help', async () => {
    await asRoot(async (page) => {
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await page.keyboard.press('Tab')
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content')
      await page.keyboard.press('Control+k')
      const palette = page.getByRole('dialog', { name: 'Command palette' })
      await palette.getByRole('combobox').fill('Audit')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
      await page.keyboard.press('Control+k')
      await palette.getByRole('combobox').fill('root/shop')
      await palette
        .getByRole('option', { name: /root\/shop/ })
        .first()
        .waitFor()
      await palette.getByRole('option', { name: 'root/shop Project' }).click()
      await page.getByRole('table', { name: 'Commits' }).waitFor()
      await open(page, '/projects')
      await page.keyboard.press('/')
      expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Search')
      await page.keyboard.press('Escape')
      await page.evaluate(() => (document.activeElement as HTMLElement).blur())
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.getByRole('table', { name: 'Commits' }).waitFor()
    })
  })

  it('the chosen theme is remembered', async () => {
    await asRoot(async (page) => {
      await page.getByRole('button', { name: 'Theme' }).click()
      await page.getByRole('menuitemradio', { name: 'Dark' }).click()
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
    })
  })

  it('a saved broadcast appears on every page at once', async () => {
    const tea = `Tea ${Date.now()}`
    await asRoot(async (page) => {
      await open(page, '/broadcasts')
      await page.getByRole('button', { name: 'New broadcast' }).click()
      await page.getByLabel('Message', { exact: true }).fill(`${tea} is *served*`)
      await page.getByLabel('Background color').fill('#ffff00')
      await page.getByLabel('Text color').fill('#ffffff')
      expect(await page.getByRole('region', { name: 'Preview' }).textContent()).toContain(`${tea} is served`)
      await page.getByRole('status').getByText('contrast').waitFor()
      await page.getByRole('button', { name: 'Save' }).click()
      const announcements = page.getByRole('region', { name: 'Announcements' })
      await announcements.getByText(tea).waitFor()
      expect(await announcements.locator('em').first().textContent()).toBe('served')
      await page.getByRole('table', { name: 'Broadcasts' }).getByText(tea).waitFor()
    })
  })

  it('a user and a token are created, the secret is shown once, and the token is revoked', async () => {
    await asRoot(async (page) => {
      await open(page, '/admin/users')
      await page.getByRole('button', { name: 'New user' }).click()
      const user = page.getByRole('dialog', { name: 'New user' })
      await user.getByLabel('Username').fill('edsger')
      await user.getByLabel('Name', { exact: true }).fill('Edsger Dijkstra')
      await user.getByLabel('Email').fill('edsger@example.com')
      await user.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('table', { name: 'Users' }).getByRole('link', { name: 'edsger' }).waitFor()
      await open(page, '/admin/tokens')
      await page.getByRole('button', { name: 'New token' }).click()
      const token = page.getByRole('dialog', { name: 'New token' })
      await token.getByLabel('User').fill('edsger')
      await token.getByLabel('Name').fill('from the console')
      await token.getByRole('checkbox', { name: 'read_api', exact: true }).check()
      await token.getByRole('button', { name: 'Create' }).click()
      const secret = await page.getByLabel('Secret').inputValue()
      const whoIs = async () =>
        (await fetch(`${tree.url}/api/v4/user`, { headers: { 'PRIVATE-TOKEN': secret } })).status
      expect(await whoIs()).toBe(200)
      await page.getByRole('button', { name: 'Close' }).click()
      const row = page.getByRole('row').filter({ hasText: 'from the console' })
      await row.getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
      await row.getByText('revoked').waitFor()
      await expect.poll(whoIs).toBe(401)
      await open(page, '/admin/audit')
      await settled(page)
      await page.getByRole('table', { name: 'Audit log' }).getByText('edsger').first().waitFor()
    })
  })

  it('revoking a token signs its sessions out everywhere', async () => {
    const { id, token } = await api<{ id: number; token: string }>(
      'POST',
      '/users/1/personal_access_tokens',
      {
        name: 'short',
        scopes: ['api'],
      },
    )
    if (!browser) return
    const { page, close } = await visit(browser, { url: tree.url })
    await signIn(page, token)
    await api('DELETE', `/personal_access_tokens/${id}`)
    await page.waitForTimeout(1000)
    await page.goto('/console/projects')
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await close()
  })
})
