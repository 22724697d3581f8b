import { launchBrowser } from '@switchyard/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runExample } from '../support/delivery-loop-example.js'
import { startTree, type Tree } from '../support/tree.js'

let tree: Tree
let browser: Browser | null
let page: Page

beforeAll(async () => {
  tree = await startTree()
  browser = await launchBrowser()
  if (!browser) throw new Error('There is no browser')
  page = await browser.newPage({ baseURL: tree.url })
  await page.goto('/console/sign-in')
  await page.getByLabel('Access token').fill(tree.rootToken)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
})
afterAll(async () => {
  await browser?.close()
  await tree?.stop()
})

it('within four minutes, the example of the delivery loop shows the deployment behind its failures three clicks from the overview', async () => {
  const began = performance.now()
  const { exitCode, all } = await runExample(tree)
  expect(exitCode, all).toBe(0)
  expect(performance.now() - began).toBeLessThan(240_000)
  expect(all).toMatch(/Deployment 1: nothing became worse\./)
  expect(all).toMatch(/Deployment 2: more sagas fail, with a confidence over 99\.\d+ %\./)
  expect(all).toMatch(
    /The rule 'Stop the line' would have frozen production, shown a banner; it is a dry run\./,
  )

  await page.goto('/console/?hours=1')
  const picture = page.getByRole('figure', { name: 'Time line, Last hour' })
  await picture
    .getByRole('link', { name: /^Deployment 1 of root\/example-delivery-loop.*: success/ })
    .waitFor()
  const harmful = picture.getByRole('link', {
    name: /^Deployment 2 of root\/example-delivery-loop.*more sagas fail/,
  })
  await harmful.waitFor()
  await page.getByRole('link', { name: 'all', exact: true }).click()
  const cause = page.getByRole('row', { name: /the payment provider knows no charge in one call/ })
  await cause.getByText(/^Began (during|.* after) deployment 2 of example-checkout-\d+, commit /).waitFor()
  await cause.getByRole('link', { name: 'deployment 2' }).click()
  await page.getByRole('heading', { level: 1, name: 'Deployment #2' }).waitFor()
  const impact = page.getByRole('region', { name: 'Before and after' })
  await impact.getByText('became worse with this deployment').waitFor()
  await impact
    .getByRole('row', { name: /Stop the line dry run Nothing\. It would freeze production/ })
    .waitFor()

  const again = await runExample(tree)
  expect(again).toMatchObject({ exitCode: 1, all: expect.stringContaining('--remove removes it') })
  expect(await runExample(tree, ['--remove'])).toMatchObject({ exitCode: 0 })
  await page.goto('/console/?hours=1')
  await picture.waitFor()
  expect(await picture.getByRole('link', { name: /^Deployment/ }).count()).toBe(0)
})
