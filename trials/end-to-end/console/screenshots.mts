// Takes a picture of every page, in both themes, on a desktop and on a phone:
//   npx tsx trials/end-to-end/console/screenshots.mts FOLDER
// It starts Switchyard with example data, or, with SWITCHYARD_URL and SWITCHYARD_TOKEN, uses a running instance.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { launchBrowser } from '@switchyard/testing'
import { apiOf } from '../../support/api.js'
import { startTree } from '../../support/tree.js'
import { addresses } from './addresses.js'
import { open, visit } from './console-browser.js'
import { writeExampleData } from './example-data.js'

const folder = process.argv[2]
if (!folder) throw new Error('Name the folder for the pictures')
const only = process.argv[3]
mkdirSync(folder, { recursive: true })
const { SWITCHYARD_URL, SWITCHYARD_TOKEN } = process.env
const tree =
  SWITCHYARD_URL && SWITCHYARD_TOKEN
    ? { url: SWITCHYARD_URL, rootToken: SWITCHYARD_TOKEN, stop: async () => {} }
    : await startTree()
const browser = await launchBrowser()
if (!browser) throw new Error('There is no Chromium')
try {
  const api = apiOf(tree.url, tree.rootToken)
  if (!SWITCHYARD_URL) await writeExampleData(api)
  const commits = await api<{ id: string }[]>('GET', '/projects/root%2Fshop/repository/commits?ref_name=main')
  for (const theme of ['light', 'dark'] as const) {
    for (const [device, width, height] of [
      ['desktop', 1280, 900],
      ['phone', 390, 844],
    ] as const) {
      const { page, problems, close } = await visit(browser, {
        url: tree.url,
        token: tree.rootToken,
        theme,
        width,
        height,
      })
      for (const [name, address] of Object.entries(addresses(commits[0]?.id ?? ''))) {
        if (only && !name.includes(only)) continue
        await open(page, address)
        await page.waitForTimeout(300)
        await page.screenshot({
          path: join(folder, `${name}-${device}-${theme}.png`),
          fullPage: device === 'phone',
        })
      }
      for (const problem of problems) console.log(`${device} ${theme}: ${problem}`)
      await close()
    }
  }
} finally {
  await browser.close()
  await tree.stop()
}
