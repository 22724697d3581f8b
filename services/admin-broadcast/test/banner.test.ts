import { execFile } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { launchBrowser } from '@switchyard/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { json, startHarness } from './harness.js'

const require = createRequire(import.meta.url)
const root = resolve(import.meta.dirname, '../../..')
let harness: Awaited<ReturnType<typeof startHarness>>
const path = '/broadcast_messages'

/** Builds the script from the current sources. */
beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(root, 'packages/banner/scripts/bundle.mjs')])
  harness = await startHarness()
})
afterAll(() => harness?.close())

type Message = Record<string, unknown> & { id: number }
const send = async (verb: string, url: string, fields: Record<string, unknown> = {}) => {
  const response = await harness.send('admin', verb, url, json(fields))
  expect(response.ok).toBe(true)
  return (response.status === 204 ? {} : await response.json()) as Message
}
const create = (fields: Record<string, unknown>) => send('POST', path, fields)

describe('GET /broadcast_messages/banner.js', () => {
  const get = (headers: Record<string, string> = {}) =>
    harness.send('guest', 'GET', `${path}/banner.js`, { headers })

  it('is a script for any site, which caches keep and revalidate by its ETag', async () => {
    const response = await get()
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=300, stale-while-revalidate=86400',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    })
    const again = await get({ 'If-None-Match': response.headers.get('ETag') ?? '' })
    expect(again.status).toBe(304)
    expect((await harness.send('guest', 'HEAD', `${path}/banner.js`)).status).toBe(200)
  })

  it('is smaller than 4 KB compressed, and loads nothing else', async () => {
    const script = await (await get()).text()
    expect(gzipSync(script, { level: 9 }).length).toBeLessThan(4096)
    expect(script).not.toMatch(/\bimport\b|\brequire\(|innerHTML|insertAdjacentHTML|document\.write|\beval\(/)
  })

  it('refuses other verbs and invalid tokens like every address', async () => {
    expect((await harness.send('admin', 'POST', `${path}/banner.js`)).status).toBe(405)
    expect((await harness.send('unknown', 'GET', `${path}/banner.js`)).status).toBe(401)
  })
})

const browser = await launchBrowser()

describe.skipIf(!browser)('the banner in Chromium', () => {
  /** A site other than the one of the messages, with a strict content security policy. */
  let site: Server
  let siteUrl: string
  let html = ''
  /** Addition to the policy. */
  let policy = ''
  let page: Awaited<ReturnType<NonNullable<typeof browser>['newPage']>>

  beforeAll(async () => {
    site = createServer((_request, response) => {
      response.writeHead(200, {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': `default-src 'none'; script-src ${harness.baseUrl}${policy || `; connect-src ${harness.baseUrl}`}`,
      })
      response.end(`<!doctype html><html lang="en"><title>Shop</title><body>${html}<main>Welcome</main>`)
    }).listen(0, '127.0.0.1')
    await new Promise((listening) => site.once('listening', listening))
    siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    await browser?.close()
    site?.closeAllConnections()
    site?.close()
  })
  const problems: string[] = []
  beforeEach(async () => {
    const all = await harness.send('admin', 'GET', path)
    for (const { id } of (await all.json()) as Message[]) await send('DELETE', `${path}/${id}`)
    html = `<script src="${scriptUrl()}" async></script>`
    policy = ''
    const context = await browser?.newContext()
    if (!context) throw new Error('no browser')
    page = await context.newPage()
    problems.length = 0
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (line) => {
      if (line.type() === 'error' && !line.text().includes('favicon')) problems.push(line.text())
    })
    page.on('dialog', (dialog) => {
      problems.push(`dialog ${dialog.message()}`)
      void dialog.dismiss()
    })
  })
  afterEach(() => page.context().close())

  const scriptUrl = () => `${harness.baseUrl}/api/v4${path}/banner.js`
  const messages = () => page.locator('switchyard-banner [part~=message]')
  const texts = () => messages().locator('span').allTextContents()

  it('is included with one script tag, from another site, under a strict policy', async () => {
    await create({ message: 'Deploys **pause** at noon' })
    await page.goto(siteUrl)
    await expect.poll(texts).toEqual(['Deploys pause at noon'])
    expect(await messages().locator('strong').textContent()).toBe('pause')
    expect(await page.evaluate('document.body.firstElementChild.localName')).toBe('switchyard-banner')
    expect(problems).toEqual([])
  })

  it('shows new, changed and removed messages without a reload', async () => {
    await page.goto(siteUrl)
    const { id } = await create({ message: 'First' })
    await expect.poll(texts).toEqual(['First'])
    await create({ message: 'Second' })
    await expect.poll(texts).toEqual(['Second', 'First'])
    await send('PUT', `${path}/${id}`, { message: 'Changed' })
    await expect.poll(texts).toEqual(['Second', 'Changed'])
    await send('DELETE', `${path}/${id}`)
    await expect.poll(texts).toEqual(['Second'])
    expect(problems).toEqual([])
  })

  it.each([
    ['is refused', { status: 503 }],
    ['breaks', null],
  ])('goes on by polling where the stream %s', async (_how, refusal) => {
    await page.route('**/stream*', (route) => (refusal ? route.fulfill(refusal) : route.abort()))
    await create({ message: 'Polled' })
    await page.goto(siteUrl)
    await expect.poll(texts).toEqual(['Polled'])
  })

  it('shows the text of a message as plain text, whatever it contains', async () => {
    const attacks = [
      '<img src=x onerror=alert(1)>',
      '<script>alert(1)</script>',
      '[click](javascript:alert(1))',
      '[click](data:text/html,<script>alert(1)</script>)',
      '[x](https://a.example/"onmouseover="alert(1))',
      '`<svg onload=alert(1)>`',
      '**<b onclick=alert(1)>x</b>**',
      '</span></div><iframe src=javascript:alert(1)>',
    ]
    for (const message of attacks) await create({ message })
    await page.goto(siteUrl)
    await expect.poll(() => messages().count()).toBe(attacks.length)
    const found = await page.evaluate(`(() => {
      const all = [...document.querySelector('switchyard-banner').shadowRoot.querySelectorAll('span, span *')]
      return {
        tags: [...new Set(all.map((element) => element.localName))].sort(),
        handlers: all.flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith('on')),
        links: all.filter((element) => element.localName === 'a').map((element) => element.protocol),
      }
    })()`)
    expect(found).toEqual({ tags: ['a', 'code', 'span', 'strong'], handlers: [], links: ['https:'] })
    for (const link of await messages().locator('a').all()) await link.hover()
    expect(problems).toEqual([])
  })

  it('is readable in any chosen colours', async () => {
    await create({ message: 'White on white', color: '#FFFFFF', font: '#FFFFFF' })
    await create({ message: 'As chosen', color: '#123456', font: '#FFFF00' })
    await page.goto(siteUrl)
    await expect.poll(() => messages().count()).toBe(2)
    const colors = await messages().evaluateAll((boxes) =>
      (boxes as unknown as { style: Record<string, string> }[]).map(({ style }) => [
        style.backgroundColor,
        style.color,
      ]),
    )
    expect(colors).toEqual([
      ['rgb(18, 52, 86)', 'rgb(255, 255, 0)'],
      ['rgb(255, 255, 255)', 'rgb(0, 0, 0)'],
    ])
  })

  it('stays hidden after it was dismissed by keyboard, until its text changes', async () => {
    const { id } = await create({ message: 'Dismissable', dismissable: true })
    await create({ message: 'Stays' })
    await page.goto(siteUrl)
    const close = page.getByRole('button', { name: 'Dismiss message' })
    await expect.poll(() => close.count()).toBe(1)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(texts).toEqual(['Stays'])
    await page.reload()
    await expect.poll(texts).toEqual(['Stays'])
    await send('PUT', `${path}/${id}`, { message: 'New words' })
    await expect.poll(texts).toEqual(['Stays', 'New words'])
    await close.focus()
    await page.keyboard.press('Escape')
    await expect.poll(texts).toEqual(['Stays'])
  })

  it('has roles for screen readers: status, alert for red messages, and a labelled button', async () => {
    await create({ message: 'Quiet', dismissable: true })
    await create({ message: 'Urgent', theme: 'red' })
    await create({ message: 'Aside', broadcast_type: 'notification' })
    html += '<switchyard-banner close-label="Schließen"></switchyard-banner>'
    await page.goto(siteUrl)
    await expect.poll(() => messages().count()).toBe(3)
    expect(await page.getByRole('alert').textContent()).toBe('Urgent')
    expect(await page.getByRole('status').allTextContents()).toEqual(['Quiet✕', 'Aside'])
    expect(await page.getByRole('button', { name: 'Schließen' }).count()).toBe(1)
    expect(await page.locator('switchyard-banner').count()).toBe(1)
  })

  it('shows a page only its messages', async () => {
    await create({ message: 'Cart', target_path: '*/cart' })
    await page.goto(`${siteUrl}/home`)
    await create({ message: 'Everywhere' })
    await expect.poll(texts).toEqual(['Everywhere'])
    await page.goto(`${siteUrl}/shop/cart`)
    await expect.poll(texts).toEqual(['Everywhere', 'Cart'])
    await page.evaluate(`document.querySelector('switchyard-banner').setAttribute('path', '/home')`)
    await expect.poll(texts).toEqual(['Everywhere'])
  })

  it('follows the path of the page when the page changes it by the history API', async () => {
    await create({ message: 'Cart', target_path: '*/cart' })
    await create({ message: 'Home', target_path: '/home' })
    await page.goto(`${siteUrl}/home`)
    await expect.poll(texts).toEqual(['Home'])
    await page.evaluate(`history.pushState({}, '', '/shop/cart')`)
    await expect.poll(texts).toEqual(['Cart'])
    await page.evaluate(`history.replaceState({}, '', '/elsewhere')`)
    await expect.poll(texts).toEqual([])
    await page.goBack()
    await expect.poll(texts).toEqual(['Home'])
    await create({ message: 'Live', target_path: '/home' })
    await expect.poll(texts).toEqual(['Live', 'Home'])
    expect(problems).toEqual([])
  })

  it.each([
    [
      'exchanges its body',
      `document.documentElement.replaceChild(document.createElement('body'), document.body)`,
    ],
    ['assigns another body', `document.body = document.createElement('body')`],
    ['writes what is in its body anew', `document.body.textContent = 'Next'`],
    [
      'exchanges the whole document',
      `document.replaceChild(document.createElement('html'), document.documentElement);
       document.documentElement.append(document.createElement('body'))`,
    ],
    ['empties its body node by node', `while (document.body.lastChild) document.body.lastChild.remove()`],
  ])('stays on a page that %s, again and again', async (_how, change) => {
    await create({ message: 'Stays' })
    await page.goto(siteUrl)
    await expect.poll(texts).toEqual(['Stays'])
    for (let times = 0; times < 3; times += 1) {
      await page.evaluate(change)
      await expect.poll(() => page.locator('switchyard-banner').count()).toBe(1)
      await expect.poll(texts).toEqual(['Stays'])
    }
    const { id } = await create({ message: 'Live' })
    await expect.poll(texts).toEqual(['Live', 'Stays'])
    await send('DELETE', `${path}/${id}`)
    await expect.poll(texts).toEqual(['Stays'])
    expect(problems).toEqual([])
  })

  it('stays on the pages of a site with Turbo, and follows their paths', async () => {
    const turbo = require.resolve('@hotwired/turbo/dist/turbo.es2017-umd.js')
    await page.route('**/turbo.js', (route) => route.fulfill({ path: turbo, contentType: 'text/javascript' }))
    html = `<script src="${scriptUrl()}"></script><script src="${harness.baseUrl}/turbo.js"></script><a href="/cart">Cart</a>`
    // Turbo fetches pages from the site itself, and adds styles to its progress bar.
    policy = `; connect-src ${harness.baseUrl} 'self'; style-src 'unsafe-inline'`
    await create({ message: 'Everywhere' })
    await create({ message: 'Cart', target_path: '/cart' })
    await page.goto(`${siteUrl}/home`)
    await expect.poll(texts).toEqual(['Everywhere'])
    await page.evaluate('globalThis.isSamePage = true')
    await page.getByRole('link', { name: 'Cart' }).click()
    await expect.poll(texts).toEqual(['Cart', 'Everywhere'])
    await page.goBack()
    await expect.poll(texts).toEqual(['Everywhere'])
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true)
    expect(await page.locator('switchyard-banner').count()).toBe(1)
  })

  describe('behind a proxy that stops forwarding', () => {
    let proxy: ReturnType<typeof createTcpServer>
    const pairs: [Socket, Socket][] = []
    beforeEach(async () => {
      proxy = createTcpServer((client) => {
        const service = connect(Number(new URL(harness.baseUrl).port), '127.0.0.1')
        pairs.push([client, service])
        client.pipe(service).pipe(client)
        for (const socket of [client, service]) socket.on('error', () => {})
      }).listen(0, '127.0.0.1')
      await new Promise((listening) => proxy.once('listening', listening))
      const { port } = proxy.address() as AddressInfo
      html = `<script src="${scriptUrl()}" data-manual></script><switchyard-banner src="http://127.0.0.1:${port}"></switchyard-banner>`
      policy = `; connect-src http://127.0.0.1:${port}`
    })
    afterEach(() => {
      for (const socket of pairs.splice(0).flat()) socket.destroy()
      proxy.close()
    })
    const stopForwarding = () => {
      for (const [client, service] of pairs) {
        client.unpipe(service)
        service.unpipe(client)
      }
    }

    it('a message disappears at its end', async () => {
      const endsAt = Date.now() + 6000
      await create({ message: 'Soon over', ends_at: new Date(endsAt).toISOString() })
      await create({ message: 'Goes on' })
      await page.goto(siteUrl)
      await expect.poll(texts).toEqual(['Goes on', 'Soon over'])
      stopForwarding()
      await expect.poll(texts).toEqual(['Goes on'])
      expect(Math.abs(Date.now() - endsAt)).toBeLessThan(2000)
    })

    it('a stream that was silent for 30 seconds is opened again', async () => {
      await create({ message: 'First' })
      await page.goto(siteUrl)
      await expect.poll(texts).toEqual(['First'])
      stopForwarding()
      await create({ message: 'Second' })
      await expect.poll(texts).toEqual(['Second', 'First'])
    })
  })

  it.each([
    ['ahead', 3_600_000],
    ['behind', -3_600_000],
  ])(
    'goes by the clock of the server where that of the browser is an hour %s, live and polled',
    async (_how, ms) => {
      await page.addInitScript(`{ const now = Date.now; Date.now = () => now() + ${ms} }`)
      for (const isPolled of [false, true]) {
        if (isPolled) await page.route('**/stream*', (route) => route.fulfill({ status: 503 }))
        const endsAt = Date.now() + 6000
        await create({ message: 'Soon over', ends_at: new Date(endsAt).toISOString() })
        await page.goto(siteUrl)
        await expect.poll(texts).toEqual(['Soon over'])
        await expect.poll(texts).toEqual([])
        // The header Date has a resolution of a second.
        expect(Math.abs(Date.now() - endsAt)).toBeLessThan(3000)
      }
    },
  )

  it('shows a page with an address outside ASCII its messages', async () => {
    await create({ message: 'Over there', target_path: '/über/*' })
    await create({ message: 'Elsewhere', target_path: '/uber/*' })
    await page.goto(`${siteUrl}/über/1`)
    expect(await page.evaluate('location.pathname')).toBe('/%C3%BCber/1')
    await expect.poll(texts).toEqual(['Over there'])
    await create({ message: 'And this', target_path: '/%C3%9Cber/1' })
    await expect.poll(texts).toEqual(['And this', 'Over there'])
  })

  it('reads its messages from `src`, and closes its connection when it is removed from the page', async () => {
    html = `<script src="${scriptUrl()}" data-manual></script><switchyard-banner src="${harness.baseUrl}"></switchyard-banner>`
    await create({ message: 'By src' })
    await page.goto(siteUrl)
    await expect.poll(texts).toEqual(['By src'])
    const clients = async () =>
      /broadcast_stream_clients\{[^}]*\} (\d+)/.exec(
        await (await fetch(`${harness.baseUrl}/metrics`)).text(),
      )?.[1]
    expect(await clients()).toBe('1')
    await page.evaluate(`document.querySelector('switchyard-banner').remove()`)
    await expect.poll(clients).toBe('0')
  })

  it.runIf(process.env.SWITCHYARD_SCREENSHOTS)('works as documented', async () => {
    await create({ message: 'Maintenance tonight from **22:00 UTC**: pushes pause for ten minutes.' })
    await create({ message: 'Payments are slow, we are on it: [status](https://x.example)', theme: 'red' })
    const notification = { theme: 'light-indigo', broadcast_type: 'notification', dismissable: true }
    await create({ message: 'New: **themes** for banners', ...notification })
    await create({ message: 'Version 2 is out.', theme: 'light-green', dismissable: true })
    await page.setViewportSize({ width: 820, height: 300 })
    await page.goto(siteUrl)
    await expect.poll(() => messages().count()).toBe(4)
    await page.screenshot({ path: join(root, 'docs/images/banner.png') })
  })
})
