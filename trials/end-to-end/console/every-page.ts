import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { addresses } from './addresses.js'
import { violations } from './axe.js'
import { open, settled } from './console-browser.js'

export const themes = ['light', 'dark'] as const
type Theme = (typeof themes)[number]

/** The violated accessibility rules by the name of the page or dialog. */
export type Access = Record<Theme, Record<string, string[]>>

const desktop = { width: 1280, height: 900 }
const phone = { width: 390, height: 844 }

/** Problems of pages, by their names. */
export interface Wrong {
  access: Access
  /** Pages, and tables of pages, that are wider than a phone screen. */
  wide: string[]
  /** Words of headings that are broken across lines on a phone. */
  brokenWords: string[]
}

/**
 * Opens every page of the example data: light on a desktop, reloaded on a phone in the dark theme, and dark
 * on a desktop.
 *
 * @param sha the newest commit of root/shop
 */
export async function lookAtEveryPage(page: Page, sha: string): Promise<Wrong> {
  const wrong: Wrong = { access: { light: {}, dark: {} }, wide: [], brokenWords: [] }
  for (const [name, address] of Object.entries(addresses(sha))) {
    await page.setViewportSize(desktop)
    await page.emulateMedia({ colorScheme: 'light' })
    await open(page, address)
    const heading = await judge(page, name, 'light', wrong)
    const before = page.url()
    await page.setViewportSize(phone)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.reload()
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    expect(page.url(), name).toBe(before)
    await settled(page)
    await measure(page, name, wrong)
    await page.setViewportSize(desktop)
    await settled(page)
    await judge(page, name, 'dark', wrong)
  }
  return wrong
}

/** @returns the heading of the page */
async function judge(page: Page, name: string, theme: Theme, { access }: Wrong): Promise<string> {
  expect(await page.evaluate(() => document.documentElement.dataset.theme), name).toBe(theme)
  expect(await page.title(), name).toMatch(/^.+ · Switchyard$/)
  expect(await page.getByRole('heading', { level: 1 }).count(), name).toBe(1)
  const heading = await page.getByRole('heading', { level: 1 }).textContent()
  expect(['Not found', 'Not allowed'], name).not.toContain(heading)
  const broken = await violations(page)
  if (broken.length > 0) access[theme][name] = broken
  return heading ?? ''
}

/** Pages whose tables need no horizontal scrolling on a phone. */
const sidewaysNever = ['commands', 'services', 'service']

async function measure(page: Page, name: string, { wide, brokenWords }: Wrong): Promise<void> {
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  if (width > phone.width) wide.push(`${name} ${width}`)
  if (sidewaysNever.includes(name)) wide.push(...(await page.evaluate(tablesWiderThanShown)))
  for (const word of await page.evaluate(wordsInSeveralLines)) brokenWords.push(`${name} ${word}`)
}

/** Runs in the browser: names of tables that are wider than their visible part. */
const tablesWiderThanShown = (): string[] =>
  [...document.querySelectorAll('main table')]
    .filter((table) => table.scrollWidth > (table.parentElement?.clientWidth ?? 0))
    .map((table) => table.getAttribute('aria-label') ?? '')

/** Runs in the browser: single-word headings that are broken across lines. */
function wordsInSeveralLines(): string[] {
  const headings = [...document.querySelectorAll('main h2, main th')]
  return headings.flatMap((heading) => {
    const range = document.createRange()
    range.selectNodeContents(heading)
    const lines = new Set([...range.getClientRects()].map(({ top }) => top))
    const text = heading.textContent ?? ''
    return /^\S+$/.test(text) && lines.size > 1 ? [text] : []
  })
}
