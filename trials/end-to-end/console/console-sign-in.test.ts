import { mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  getFreePort,
  type IdentityProvider,
  identityClient,
  launchBrowser,
  startIdentityProvider,
} from '@switchyard/testing'
import { execa } from 'execa'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isTreeGiven, startTree, type Tree } from '../../support/tree.js'
import { violations } from './axe.js'
import { signIn, visit } from './console-browser.js'

const browser: Browser | null = isTreeGiven ? null : await launchBrowser()

let provider: IdentityProvider
let tree: Tree
/** Address of the gateway, which the provider must know before the tree starts. */
let url: string

beforeAll(async () => {
  if (!browser) return
  const port = await getFreePort()
  url = `http://127.0.0.1:${port}`
  const address = `${url}/api/v4/sign_in/sso`
  provider = await startIdentityProvider({
    redirectUris: [`${address}/callback`],
    postLogoutRedirectUri: `${url}/console/sign-in`,
    backchannelLogoutUri: `${address}/backchannel_logout`,
    accounts: {
      ada: { preferred_username: 'ada', name: '<img src=x onerror=alert(1)>' },
      root: { preferred_username: 'root' },
    },
  })
  tree = await startTree({
    env: {
      PORT: String(port),
      EXTERNAL_URL: url,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: identityClient.id,
      OIDC_CLIENT_SECRET: identityClient.secret,
      OIDC_LABEL: 'Acme',
      OIDC_CREATE_USERS: 'true',
      USER_TOKEN_LIFETIME_DAYS_MAX: '30',
      DEVICE_TOKEN_LIFETIME_DAYS: '30',
    },
  })
})
afterAll(async () => {
  await browser?.close()
  await tree?.stop()
  await provider?.stop()
})

/** Opens a window in which nobody is signed in. */
async function inWindow(use: (page: Page) => Promise<unknown>): Promise<void> {
  if (!browser) throw new Error('There is no browser')
  const { page, problems, close } = await visit(browser, { url })
  try {
    await use(page)
    // Problems on the provider's own pages are ignored.
    expect(problems.filter((problem) => problem.includes('/console'))).toEqual([])
  } finally {
    await close()
  }
}

async function logIn(page: Page, login: string): Promise<void> {
  await page.getByRole('button', { name: 'Acme' }).click()
  await page.locator('input[name=login]').fill(login)
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
}

describe.skipIf(!browser)('single sign-on in the console', () => {
  it('leads to the provider, back to the requested page, and out again', async () => {
    await inWindow(async (page) => {
      await page.goto('/console/projects?q=engine')
      await logIn(page, 'ada')
      await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
      expect(page.url()).toBe(`${url}/console/projects?q=engine`)
      await page.goto('/console/')
      const steps = page.getByRole('region', { name: 'First steps' })
      await steps.getByText(`git push ${url}/ada/demo.git HEAD:main`).waitFor()
      expect(await steps.getByText('Report a saga').count()).toBe(0)
      await page.getByRole('button', { name: 'Account' }).click()
      await page.getByText('<img src=x onerror=alert(1)>').waitFor()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.waitForURL(`${provider.issuer}/session/end**`)
      await page.getByRole('button', { name: /yes/i }).click()
      await page.waitForURL(`${url}/console/sign-in**`)
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    })
  })

  it('shows administrators the accounts by which users sign in', async () => {
    if (!browser) throw new Error('There is no browser')
    const { page, close } = await visit(browser, { url, token: tree.rootToken })
    await page.goto('/console/admin/users?q=ada')
    await page.getByRole('row', { name: /^ada .*Acme: ada/ }).waitFor()
    await close()
  })

  it('lets users create their own token, and revoke it', async () => {
    await inWindow(async (page) => {
      await page.goto('/console/admin/tokens')
      await logIn(page, 'ada')
      await page.getByRole('button', { name: 'New token' }).click()
      const dialog = page.getByRole('dialog', { name: 'New token' })
      expect(await dialog.getByLabel('User').count()).toBe(0)
      await dialog.getByLabel('Name').fill('laptop')
      await dialog.getByRole('checkbox', { name: 'read_api', exact: true }).check()
      await dialog.getByRole('checkbox', { name: 'own profile', exact: true }).check()
      await dialog.getByRole('button', { name: 'Create' }).click()
      const secret = await page.getByLabel('Secret').inputValue()
      const ask = () => fetch(`${url}/api/v4/user`, { headers: { 'PRIVATE-TOKEN': secret } })
      expect((await ask()).status).toBe(200)
      await page.getByRole('button', { name: 'Close' }).last().click()
      await page
        .getByRole('row', { name: /laptop/ })
        .getByRole('button', { name: 'Revoke' })
        .click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
      await expect.poll(async () => (await ask()).status).toBe(401)
    })
  })

  it('lets users sign the command in, where they compare its code', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'switchyard-command-'))
    const env = { XDG_CONFIG_HOME: folder }
    const command = join(folder, 'package/bin/switchyard.mjs')
    try {
      const packed = await (await fetch(`${url}/-/clients/cli.tgz`)).bytes()
      await execa('tar', ['-xzC', folder], { input: packed })
      const login = execa('node', [command, 'login', url, '--browser'], { env, reject: false })
      let said = ''
      login.stderr.on('data', (text) => {
        said += text
      })
      await expect.poll(() => said).toContain('allow ')
      const address = /http\S+/.exec(said)?.[0] ?? ''
      const code = new URL(address).searchParams.get('user_code') ?? ''
      await inWindow(async (page) => {
        await page.goto(address)
        await logIn(page, 'ada')
        const request = page.getByRole('region', { name: 'A program asks for a token of yours' })
        await request.getByText(code, { exact: true }).waitFor()
        await request.getByText(`switchyard on ${hostname()}`).waitFor()
        expect(await violations(page)).toEqual([])
        await request.getByRole('button', { name: 'Allow' }).click()
        await page.getByRole('status').getByText('Allowed.').waitFor()
        const { exitCode, stderr } = await login
        expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`signed in to ${url} as ada`)])
        await page.goto('/console/account')
        await page.getByRole('row', { name: /switchyard on/ }).waitFor()
      })
      const { stdout } = await execa('node', [command, 'whoami'], { env })
      expect(stdout).toMatch(/^user +ada$/m)
      await execa('node', [command, 'logout', '--revoke'], { env })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('lets users link and unlink their accounts, but not the last one', async () => {
    await inWindow(async (page) => {
      await page.goto('/console/account')
      await logIn(page, 'ada')
      const ways = page.getByRole('table', { name: 'Sign-ins' })
      await ways.getByRole('button', { name: 'Unlink Acme ada' }).click()
      const dialog = page.getByRole('dialog', { name: 'Unlink Acme' })
      await dialog.getByRole('button', { name: 'Unlink' }).click()
      await dialog.getByRole('alert').getByText('This is your only way to sign in').waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      const back = page.waitForEvent('framenavigated', (frame) => frame.url() === `${url}/console/account`)
      await page.getByRole('button', { name: 'Link Acme', exact: true }).click()
      await back
      await expect.poll(() => ways.getByRole('row').count()).toBe(2)
    })
  })

  it('lets administrators link and unlink an account of a user', async () => {
    await inWindow(async (page) => {
      await signIn(page, tree.rootToken)
      await page.goto('/console/admin/users?q=ada')
      await page.getByRole('button', { name: 'Sign-ins…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Sign-ins of ada' })
      await dialog.getByLabel('Subject').fill('ada-at-home')
      await dialog.getByRole('button', { name: 'Link', exact: true }).click()
      await dialog.getByRole('button', { name: 'Unlink Acme ada-at-home' }).click()
      await page
        .getByRole('dialog', { name: 'Unlink Acme' })
        .getByRole('button', { name: 'Unlink', exact: true })
        .click()
      await expect.poll(() => dialog.getByText('ada-at-home').count()).toBe(0)
      await page.goto('/console/admin/tokens')
      await page.getByText('Users make tokens for themselves, which live for 30 days at most').waitFor()
    })
  })

  it('explains a refused sign-in in plain words', async () => {
    await inWindow(async (page) => {
      await page.goto('/console/sign-in')
      await logIn(page, 'root')
      await page.getByRole('alert').getByText('Your user name is taken, or cannot be used here.').waitFor()
      await page.goto('/console/sign-in?problem=no_account&by=Free%20money%20at%20evil.example')
      await page.getByRole('alert').getByText('your account at The provider').waitFor()
      await page.goto('/console/sign-in?problem=constructor')
      await page.getByRole('button', { name: 'Acme' }).waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    })
  })
})
