import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { type Browser, chromium } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome']
const packages = ['chromium', 'fonts-liberation']

/**
 * Chromium runs without a sandbox (which root cannot use), without a GPU, and without background network
 * access.
 */
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Starts Chromium: the program in SWITCHYARD_TEST_CHROMIUM, otherwise the one on PATH, otherwise one that apt
 * installs when this process is root. Returns null, after a warning with the command to install it, when
 * there is none. Tests have to be skipped then.
 *
 * @param further switches of Chromium
 */
export async function launchBrowser(further: readonly string[] = []): Promise<Browser | null> {
  const executablePath = process.env.SWITCHYARD_TEST_CHROMIUM || find() || (await install())
  if (executablePath) return chromium.launch({ executablePath, args: [...flags, ...further] })
  console.warn(
    '\n⚠ SKIPPED: tests in a real browser, because there is no Chromium.\n' +
      '  Type "sudo apt-get install -y chromium", or set SWITCHYARD_TEST_CHROMIUM to a Chrome or Chromium.\n',
  )
  return null
}

const find = () =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path))

async function install(): Promise<string | undefined> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined
  console.warn('installing Chromium with apt')
  const apt = (...args: string[]) =>
    execa('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
      all: true,
    })
  // Another process may be using apt.
  for (let attempt = 1; attempt <= 5 && !find(); attempt += 1) {
    try {
      await apt('update')
      await apt('--yes', '--no-install-recommends', 'install', ...packages)
    } catch (error) {
      console.warn(error instanceof Error ? error.message.split('\n')[0] : error)
      await delay(3000)
    }
  }
  return find()
}
