import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningPostgres, startPostgres } from '@switchyard/local-servers'
import { launchBrowser, waitFor } from '@switchyard/testing'
import pg from 'pg'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiOf } from '../../support/api.js'
import { isTreeGiven, startTree, type Tree } from '../../support/tree.js'
import { violations } from './axe.js'
import { settled, visit } from './console-browser.js'

const browser: Browser | null = isTreeGiven ? null : await launchBrowser()

let dataDir: string
let postgres: RunningPostgres
let tree: Tree

beforeAll(async () => {
  if (!browser) return
  dataDir = mkdtempSync(join(tmpdir(), 'switchyard-e2e-'))
  // Events of an hour ago are written directly into this database.
  postgres = await startPostgres({ dataDir: join(dataDir, 'postgres'), log: () => {}, durable: false })
  tree = await startTree({ env: { DATABASE_URL: postgres.url } })
  await plantFailure()
})
afterAll(async () => {
  await browser?.close()
  await tree?.stop()
  await postgres?.stop()
  if (dataDir) rmSync(dataDir, { recursive: true, force: true })
})

/** Two sagas a minute for two hours, a third of which fail from a minute after the end of the deployment. */
const sagas = `WITH run AS (
    SELECT 'billing-' || n AS id, now() - n * interval '30 seconds' AS began, n % 3 = 0 AND n < 58 AS failed
    FROM generate_series(1, 240) AS n),
  stored AS (
    INSERT INTO sagas (tenant, id, service_name, status, outcome, started_at, ended_at, first_seen_at, last_event_at)
    SELECT 'default', id, 'billing', 'Ended', CASE WHEN failed THEN 'compensated' ELSE 'succeeded' END, began,
      began + interval '3 seconds', began, began + interval '3 seconds' FROM run)
  INSERT INTO saga_errors (tenant, activity_id, saga_id, first_seen_at, failed_at, fingerprint, text, folded)
  SELECT 'default', id || '-a', id, began, began + interval '1 second', 'fa11', 'the bank is closed', 'the bank is closed'
  FROM run WHERE failed`

/** Returns the time in that many hours as fields of a UTC cron expression that matches once a year. */
function cronIn(hours: number): string {
  const at = new Date(Date.now() + hours * 3_600_000)
  return `${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`
}

/** Stores a deployment that ended half an hour ago, its findings, and the reactions to them. */
async function plantFailure(): Promise<void> {
  const api = apiOf(tree.url, tree.rootToken)
  await api('POST', '/projects', { name: 'shop' })
  const actions = [{ action: 'create', file_path: 'a.txt', content: 'a' }]
  const commit = { branch: 'main', commit_message: 'Round down', actions }
  const { id: sha } = await api<{ id: string }>('POST', '/projects/root%2Fshop/repository/commits', commit)
  await api('POST', '/projects/root%2Fshop/impact_rules', {
    name: 'Stop the line',
    freeze: true,
    banner_message: '**{{environment}}** is frozen',
    dry_run: false,
  })
  const deployment = { environment: 'production', sha, ref: 'main', tag: false, status: 'success' }
  await api('POST', '/projects/root%2Fshop/deployments', { ...deployment, services: ['billing'] })
  const period = { freeze_start: cronIn(-0.2), freeze_end: cronIn(2) }
  await api('POST', '/projects/root%2Fshop/freeze_periods', period)
  await api('POST', '/broadcast_messages', { message: 'Deploys **pause**' })
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(sagas)
  await client.query(`UPDATE deployments SET created_at = now() - interval '32 minutes',
    finished_at = now() - interval '30 minutes'`)
  await waitFor(async () => (await client.query('SELECT FROM deployment_findings')).rowCount, {
    what: 'what became worse with the deployment',
    intervalMs: 200,
  })
  await client.end()
  const history = () => api<{ points: unknown[] }>('GET', '/jobqueue/history?resolution=60')
  await waitFor(async () => (await history()).points.length, { what: 'latency of queues', intervalMs: 500 })
}

describe.skipIf(!browser)('the delivery loop in the console', () => {
  it('is one picture on the overview, by mouse, by keyboard and as tables, one or two clicks away from the deployment', async () => {
    if (!browser) throw new Error('There is no browser')
    const { page, problems, close } = await visit(browser, { url: tree.url, token: tree.rootToken })
    const picture = page.getByRole('figure', { name: 'Time line, 24 hours' })
    const deployment = picture.getByRole('link', {
      name: /^Deployment 1 of root\/shop to production: success, .* Worse since then: .*more sagas fail \(billing\)/,
    })
    expect(await deployment.textContent()).toBe('! #1 of root/shop')
    await picture
      .getByRole('link', { name: /^the bank is closed: 19 failures, the most, \d+, at / })
      .waitFor()
    await picture.getByRole('link', { name: /^Frozen: root\/shop, from / }).waitFor()
    await picture.getByRole('link', { name: /^Broadcast: Deploys pause, from / }).waitFor()
    await picture.getByRole('link', { name: /^Latency of queues: at most / }).waitFor()
    await settled(page)
    expect(await violations(page)).toEqual([])

    await deployment.click()
    await page.getByRole('heading', { level: 1, name: 'Deployment #1' }).waitFor()
    await page.goBack()
    await picture.getByRole('link', { name: 'the bank is closed', exact: true }).click()
    await page.getByText('One cause is shown.').waitFor()
    await page.getByRole('link', { name: 'deployment 1', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Deployment #1' }).waitFor()

    await page.goto('/console/?hours=6')
    const hours = page.getByRole('figure', { name: 'Time line, 6 hours' })
    await hours.getByRole('link', { name: /^Deployment 1 / }).waitFor()
    await hours.locator('[data-mark][tabindex="0"]').focus()
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')
    for (const expected of [
      /^(Frozen|Broadcast)/,
      /^Deployment 1/,
      /^the bank is closed/,
      /^Latency of queues/,
    ]) {
      expect(await focused()).toMatch(expected)
      await page.keyboard.press('ArrowDown')
    }
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByText('One cause is shown.').waitFor()

    await page.goto('/console/')
    await picture.getByText('As tables').click()
    const events = picture.getByRole('table', { name: 'Deployments, freezes and broadcasts' })
    await events
      .getByRole('row', { name: /^Deployment 1 of root\/shop success to production, worse since then: / })
      .waitFor()
    const figures = picture.getByRole('table', { name: 'Failures of sagas and latency of queues' })
    await figures.getByRole('columnheader', { name: '1. the bank is closed' }).waitFor()
    expect(await figures.getByRole('row').count()).toBe(1 + 96)
    expect(problems).toEqual([])
    await close()
  })

  it('shows a whole rule on a phone, that its effects are in force, and why its change is refused', async () => {
    if (!browser) throw new Error('There is no browser')
    const phone = { width: 390, height: 700 }
    const { page, close } = await visit(browser, { url: tree.url, token: tree.rootToken, ...phone })
    const api = apiOf(tree.url, tree.rootToken)
    const rules = '/projects/root%2Fshop/impact_rules'
    const [rule] = await api<{ id: number }[]>('GET', rules)
    const path = `${rules}/${rule?.id}`
    await api('PUT', path, { dry_run: true })
    await page.goto('/console/projects/root/shop/settings')
    const row = page.getByRole('row', { name: /^Stop the line/ })
    for (const text of ['in force', 'dry run', 'anything becomes worse'])
      await row.getByText(text, { exact: true }).waitFor()
    expect((await row.boundingBox())?.width).toBeLessThanOrEqual(phone.width)
    await row.getByRole('button', { name: 'Edit Stop the line' }).click()
    const form = page.getByRole('dialog')
    await form.getByRole('textbox', { name: 'Name of the rule' }).fill('Stop it')
    await api('PUT', path, { name: 'Stop the line now' })
    await form.getByRole('button', { name: 'Save' }).click()
    const refusal = await form.getByRole('alert').boundingBox()
    const shown = await form.boundingBox()
    if (!refusal || !shown) throw new Error('Nothing is refused')
    expect(refusal.y).toBeGreaterThanOrEqual(shown.y)
    expect(refusal.y + refusal.height).toBeLessThanOrEqual(shown.y + shown.height)
    await api('PUT', path, { name: 'Stop the line', dry_run: false })
    await close()
  })

  it('shows on the pages of deployments the freezes by a rule or a period, and the deployments with findings', async () => {
    if (!browser) throw new Error('There is no browser')
    const { page, problems, close } = await visit(browser, { url: tree.url, token: tree.rootToken })
    const row = { name: /#1.*success.*became worse.*production/ }
    await page.goto('/console/projects/root/shop/deployments')
    const frozen = page.getByRole('region', { name: 'Frozen now' })
    await frozen.getByText(/^production by the rule Stop the line, because of deployment #1: began/).waitFor()
    await frozen.getByText(/^Every environment by a freeze period: began .* ends/).waitFor()
    const environments = page.getByRole('table', { name: 'Environments' })
    await environments.getByRole('row', { name: /production.*available.*frozen/ }).waitFor()
    await page.getByRole('table', { name: 'Deployments' }).getByRole('row', row).waitFor()
    await settled(page)
    expect(await violations(page)).toEqual([])
    await frozen.getByRole('link', { name: 'deployment #1' }).click()
    const [deployment] = await apiOf(tree.url, tree.rootToken)<{ id: number }[]>(
      'GET',
      '/projects/root%2Fshop/deployments',
    )
    await page
      .getByRole('heading', { level: 1, name: `Deployment #1 ID ${deployment?.id} in the API` })
      .waitFor()
    await page.goto('/console/services')
    await page.getByRole('table', { name: 'Services', exact: true }).getByRole('row', row).waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('leads from the overview to the deployment behind a failure, which a person can dismiss', async () => {
    if (!browser) throw new Error('There is no browser')
    const { page, problems, close } = await visit(browser, { url: tree.url, token: tree.rootToken })
    await page.getByRole('link', { name: 'all', exact: true }).click()
    const cause = page.getByRole('row', { name: /the bank is closed/ })
    await cause.getByText(/^Began .* after deployment 1 of billing, commit \w{8}, by /).waitFor()
    expect(await cause.textContent()).toContain('confidence over 99')
    await cause.getByRole('link', { name: 'deployment 1' }).click()
    await page.getByRole('heading', { level: 1, name: 'Deployment #1' }).waitFor()
    await settled(page)
    const impact = page.getByRole('region', { name: 'Before and after' })
    await impact.getByText('became worse with this deployment').waitFor()
    const failed = impact.getByRole('row', { name: /Failed or compensated/ })
    expect(await failed.textContent()).toMatch(/0 of 120 sagas \(0\.0 %\).*19 of 6\d sagas/)
    await impact.getByRole('link', { name: 'the bank is closed' }).waitFor()
    await page.getByText('production is frozen').first().waitFor()
    const rules = impact.getByRole('table', { name: 'What rules did' })
    await rules.getByText('in force').waitFor()
    await impact
      .getByText(/% of \d+ before, .*% of \d+ from the change on;/)
      .first()
      .waitFor()
    expect(await violations(page)).toEqual([])
    await rules.getByRole('button', { name: 'Revert Stop the line about deployment #1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revert', exact: true }).click()
    await rules.getByText('reverted').waitFor()
    await page.getByRole('region', { name: 'Facts' }).getByRole('link', { name: 'billing' }).click()
    await page.getByRole('heading', { level: 1, name: 'billing' }).waitFor()
    await settled(page)
    expect(await violations(page)).toEqual([])
    const runs = page.getByRole('table', { name: 'Environments' }).getByRole('row', { name: /production/ })
    expect(await runs.textContent()).toMatch(/main.*#1.*became worse.*root\/shop/)
    const sagas = page.getByRole('region', { name: 'Sagas of the last day' })
    expect(await sagas.textContent()).toMatch(/240\s*Ended/)
    await page.getByRole('region', { name: 'Became worse' }).getByText('deployment 1').first().click()
    await page.getByRole('heading', { level: 1, name: 'Deployment #1' }).waitFor()
    await failed.getByRole('link', { name: 'compensated' }).click()
    await page
      .getByRole('table', { name: 'Sagas' })
      .getByRole('link', { name: 'billing-3', exact: true })
      .click()
    await page.getByRole('region', { name: 'Failures of its service' }).getByText('deployment 1').click()
    await page.getByRole('button', { name: 'Not the reason…' }).click()
    await page.getByRole('dialog').getByText('stay ended when you blame it again').waitFor()
    await page.getByRole('textbox', { name: 'Reason' }).fill('The bank was closed')
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await impact.getByText('The bank was closed').waitFor()
    const change = page.getByRole('region', { name: 'Failed change' })
    // This is sooner than the page's own next read.
    await change.getByText('nobody calls it a failure').waitFor({ timeout: 5000 })
    await change.getByRole('button', { name: 'It failed…' }).click()
    await page.getByRole('textbox', { name: 'What failed' }).fill('Invoices were empty')
    await page.getByRole('button', { name: 'Say so' }).click()
    await change.getByText('Invoices were empty').waitFor()
    await page
      .getByRole('navigation', { name: 'Project' })
      .getByRole('link', { name: 'Delivery', exact: true })
      .click()
    const keys = page.getByRole('table', { name: 'Four keys' })
    await keys.getByRole('row', { name: /^Change failure rate .* 100 % 100 %$/ }).waitFor()
    await keys.getByRole('row', { name: /^Deployment frequency .* 1 1$/ }).waitFor()
    await page.getByRole('figure', { name: 'Deployments a week' }).waitFor()
    await settled(page)
    expect(await violations(page)).toEqual([])
    await page.goto('/console/failures')
    await page
      .getByRole('row', {
        name: /the bank is closed.*after deployment 1 .*somebody says that it is not the reason/,
      })
      .waitFor()
    await page.goto('/console/projects/root/shop/settings')
    await page.getByRole('button', { name: 'New rule', exact: true }).click()
    const form = page.getByRole('dialog')
    await form.getByRole('textbox', { name: 'Name of the rule' }).fill('Look twice')
    await form.getByRole('textbox', { name: 'In these services' }).fill('pay, later\nmail')
    await form.getByRole('checkbox', { name: 'freeze the environment' }).check()
    await form.getByRole('spinbutton', { name: 'Least confidence in percent' }).fill('99.9')
    await form.getByRole('button', { name: 'Create' }).click()
    const added = page.getByRole('row', { name: /Look twice.*confidence of 99\.9 %.*freeze/ })
    await added.getByText('dry run').waitFor()
    await added.getByText('pay, later', { exact: true }).waitFor()
    await added.getByRole('button', { name: 'Edit Look twice' }).click()
    expect(await form.getByRole('textbox', { name: 'In these services' }).inputValue()).toBe(
      'pay, later\nmail',
    )
    await form.getByRole('button', { name: 'Cancel' }).click()
    await added.getByRole('button', { name: 'Act on Look twice' }).click()
    await form.getByText('Its environment is frozen').waitFor()
    await settled(page)
    expect(await violations(page)).toEqual([])
    await form.getByRole('button', { name: 'Cancel' }).click()
    await added.getByText('dry run').waitFor()
    await added.getByRole('button', { name: 'Act on Look twice' }).click()
    await form.getByRole('button', { name: 'Let it act' }).click()
    await added.getByText('acts', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Runs of Stop the line' }).click()
    const run = page.getByRole('row', { name: /#1.*reverted/ })
    await run.waitFor()
    await settled(page)
    expect(await violations(page)).toEqual([])
    await run.getByRole('link', { name: '#1' }).click()
    await page.getByRole('heading', { level: 1, name: 'Deployment #1' }).waitFor()
    expect(problems).toEqual([])
    await close()
  })
})
