import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { repository } from './support/build-stages.js'

// Each test starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 30_000 })

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-sign-test-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const digest = `sha256:${'0'.repeat(64)}`
const labelsOf = (revision: string, base: string) => ({
  'org.opencontainers.image.revision': revision,
  'org.opencontainers.image.base.name': base,
})

/** Returns the output of sign.mjs for an archive of an image with these labels. */
function sign(labels: Record<string, string>, { sbom = true } = {}): string {
  const work = join(folder, 'image')
  mkdirSync(join(work, 'app'), { recursive: true })
  writeFileSync(join(work, 'app', sbom ? 'sbom.cdx.json' : 'other.json'), '{}')
  execaSync('tar', ['-cf', join(work, 'layer.tar'), '-C', work, 'app'])
  writeFileSync(join(work, 'config.json'), JSON.stringify({ config: { Labels: labels } }))
  writeFileSync(
    join(work, 'manifest.json'),
    JSON.stringify([{ Config: 'config.json', Layers: ['layer.tar'] }]),
  )
  const archives = join(folder, 'archives')
  mkdirSync(archives)
  const files = ['manifest.json', 'config.json', 'layer.tar']
  execaSync('tar', ['-cf', join(archives, 'git-api.tar'), '-C', work, ...files])
  const script = join(repository, 'ops/docker/sign.mjs')
  // cosign and its key are missing, so nothing can be signed.
  const options = { reject: false, env: { PATH: process.env.PATH } } as const
  const { exitCode, stderr } = execaSync('node', [script, archives, 'none', 'https://ci.example'], options)
  expect(exitCode).toBe(1)
  return stderr
}

it('signs no image without a list of its parts, and names the reason', () => {
  expect(sign({}, { sbom: false })).toMatch(/^✗ .*git-api.tar has no \/app\/sbom.cdx.json/)
})

it('signs no image of an unknown commit', () => {
  expect(sign(labelsOf('unknown', `node@${digest}`))).toMatch(
    /^✗ .*names no commit: build it with --build-arg REVISION/,
  )
  rmSync(join(folder, 'archives'), { recursive: true })
  expect(sign(labelsOf('f'.repeat(40), `node@${digest}`))).toMatch(
    /^✗ this checkout has no pnpm-lock.yaml of commit f{40}$/,
  )
})

it('signs no image that is based on a Node image which can change', () => {
  const { stdout: head } = execaSync('git', ['rev-parse', 'HEAD'], { cwd: repository })
  expect(sign(labelsOf(head, 'node:24'))).toMatch(/^✗ .*was built on node:24, which has no digest$/)
})
