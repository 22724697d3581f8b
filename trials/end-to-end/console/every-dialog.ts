import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { violations } from './axe.js'
import { open, settled } from './console-browser.js'
import { type Access, themes } from './every-page.js'

const shop = '/projects/root/shop'

/** The dialogs of pages: the address, the button that opens it, and its title. */
const dialogs = (sha: string, failedSaga: string): [address: string, opener: string, title: RegExp][] => [
  ['/sagas?status=Error', 'Resolve all…', /^Resolve/],
  ['/sagas?status=Error', 'Note on all…', /^Note on/],
  ['/sagas?status=Error', 'Save view…', /^Save view$/],
  [`/sagas/${failedSaga}`, 'Resolve', /^Resolve saga$/],
  [`/sagas/${failedSaga}`, 'Retry step…', /^Retry step$/],
  [`${shop}/commits/${sha}`, 'Cherry-pick…', /^Cherry-pick$/],
  [`${shop}/settings`, 'New webhook', /^New webhook$/],
  ['/saga-webhooks', 'New webhook', /^New webhook$/],
  [`${shop}/settings`, 'New access token', /^New access token$/],
  [`${shop}/settings`, 'New rule for CI jobs', /^New rule for CI jobs$/],
  [`${shop}/settings`, 'Try the claims of a job…', /^Try the claims of a job$/],
  ['/admin/users', 'New user', /^New user$/],
  ['/admin/tokens', 'New token', /^New token$/],
]

/**
 * Opens every dialog in both themes.
 *
 * @param sha the newest commit of root/shop
 * @returns the accessibility rules that dialogs violate, by their opener
 */
export async function lookAtEveryDialog(page: Page, sha: string, failedSaga: string): Promise<Access> {
  const broken: Access = { light: {}, dark: {} }
  for (const [address, opener, title] of dialogs(sha, failedSaga)) {
    await open(page, address)
    await page.getByRole('button', { name: opener, exact: true }).click()
    await page.getByRole('dialog', { name: title }).waitFor()
    await judge(page, opener, broken)
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: 'Command palette' }).waitFor()
  await judge(page, 'palette', broken)
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await judge(page, 'shortcuts', broken)
  return broken
}

/** Checks the open dialog, and closes it. */
async function judge(page: Page, name: string, broken: Access): Promise<void> {
  await settled(page)
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme })
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme)
    const rules = await violations(page)
    if (rules.length > 0) broken[theme][name] = rules
  }
  await page.keyboard.press('Escape')
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
}
