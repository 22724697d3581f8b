import { launchBrowser } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from './harness.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

it('the page displays the API in a real browser, and fetches nothing from other servers', async ({
  skip,
}) => {
  const browser = await launchBrowser()
  if (!browser) return skip()
  try {
    const page = await browser.newPage()
    const requested: string[] = []
    const problems: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).origin))
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(String(error)))
    await page.goto(`${harness.baseUrl}/api/v4/docs`)
    await page.getByText('List commits, newest first').waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Authorize' }).waitFor()
    expect(new Set(requested.filter((origin) => origin !== 'null'))).toEqual(new Set([harness.baseUrl]))
    expect(problems).toEqual([])
  } finally {
    await browser.close()
  }
})
