import { matchesGlob } from 'node:path'
import { Copy, From } from 'dockerfile-ast'
import { ValidationSeverity, validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readDockerfile, stagesOf } from './support/build-stages.js'
import { readRepositoryFile } from './support/compose.js'
import { serviceNames } from './support/service-configs.js'

const text = readRepositoryFile('ops/docker/Dockerfile')
const dockerfile = readDockerfile()
const stages = stagesOf(dockerfile)
const instructions = dockerfile.getInstructions()
const textOf = (keyword: string) =>
  instructions.filter((item) => item.getKeyword() === keyword).map((item) => item.getArgumentsContent() ?? '')

describe('Dockerfile', () => {
  it('is valid', () => {
    const warning = ValidationSeverity.WARNING
    expect(validate(text, { deprecatedMaintainer: warning, emptyContinuationLine: warning })).toEqual([])
  })

  it('has a stage for every service, for the migration and for backups', () => {
    for (const service of [...serviceNames, 'db', 'backup'])
      expect([...stages.keys()]).toContain(`runtime-${service}`)
  })

  it('starts from an image with a digest, or from an earlier stage', () => {
    const seen: string[] = []
    for (const from of instructions.filter((item): item is From => item instanceof From)) {
      const image = from.getImage() ?? ''
      if (!seen.includes(image)) expect(image).toMatch(/^(\$\{NODE_IMAGE\}|runtime-\$\{SERVICE\})$/)
      seen.push(from.getBuildStage() ?? '')
    }
    expect(textOf('ARG').find((arg) => arg.startsWith('NODE_IMAGE='))).toMatch(
      /=node:24\.[\w.-]+@sha256:[\da-f]{64}$/,
    )
  })

  it('copies only what .dockerignore sends to the builder', () => {
    const patterns = readRepositoryFile('.dockerignore')
      .split('\n')
      .filter((line) => /^[^#]/.test(line))
    const withParents = (path: string) =>
      path.split('/').map((_, end, parts) => parts.slice(0, end + 1).join('/'))
    /** The last matching pattern decides. */
    const isSent = (path: string) =>
      patterns.reduce((sent, pattern) => {
        const fits = withParents(path).some((part) => matchesGlob(part, pattern.replace('!', '')))
        return fits ? pattern.startsWith('!') : sent
      }, true)
    const sources = instructions
      .filter((item): item is Copy => item instanceof Copy && item.getFromFlag() === null)
      .flatMap((item) => item.getArguments().slice(0, -1))
      .map((argument) => argument.getValue())
      .filter((source) => source !== '.')
    expect(sources).toEqual(expect.arrayContaining(['tsconfig.base.json', 'docs/runbooks']))
    expect(sources.filter((source) => !isSent(source))).toEqual([])
    expect(
      ['docs/operations.md', 'secrets/root_token', '.env', 'services/git-api/dist'].filter(isSent),
    ).toEqual([])
  })

  it('ends as a user without rights, who does not own the program', () => {
    const image = stages.get('image') ?? []
    expect(image.at(-1)?.getTextContent()).toBe('USER node')
    expect(image.some((item) => item.getTextContent().includes('--chown'))).toBe(false)
  })

  it('runs programs without a shell, below an init process, with a health check', () => {
    for (const command of [...textOf('CMD'), ...textOf('ENTRYPOINT')])
      expect(() => JSON.parse(command)).not.toThrow()
    expect(textOf('ENTRYPOINT')).toEqual(['["tini", "--"]'])
    expect(textOf('HEALTHCHECK')).toEqual([expect.stringContaining('/-/liveness'), 'NONE', 'NONE'])
  })

  it('installs Debian packages without extras and removes the lists', () => {
    for (const run of textOf('RUN').filter((command) => command.includes('apt-get install'))) {
      expect(run).toContain('--no-install-recommends')
      expect(run).toContain('rm -rf /var/lib/apt/lists/*')
    }
  })

  it('installs git only in images that run it', () => {
    const parents = instructions
      .filter((item): item is From => item instanceof From && item.getImage() === 'runtime-with-git')
      .map((item) => item.getBuildStage())
    expect(parents.toSorted()).toEqual(['runtime-backup', 'runtime-git-api', 'runtime-worker'])
  })

  it('the image that preloads an allocator installs it', () => {
    const own = (stages.get('runtime-saga-reporter') ?? []).map((item) => item.getTextContent())
    expect(own.join('\n')).toContain('ENV LD_PRELOAD=libjemalloc.so.2')
    expect(own.findIndex((line) => /apt-get install .*\blibjemalloc2\b/s.test(line))).toBeGreaterThan(0)
  })

  it('builds with the versions of the workspace', () => {
    const { packageManager } = JSON.parse(readRepositoryFile('package.json')) as { packageManager: string }
    const { catalog } = parse(readRepositoryFile('pnpm-workspace.yaml')) as {
      catalog: Record<string, string>
    }
    expect(textOf('ARG')).toContain(`PNPM_VERSION=${packageManager.split('@')[1]}`)
    expect(textOf('ARG')).toContain(`TURBO_VERSION=${catalog.turbo}`)
  })

  it('downloads nothing after fetching the lockfile', () => {
    const building = ['built', 'shipped'].flatMap((stage) => stages.get(stage) ?? [])
    const commands = building.filter((item) => item.getKeyword() === 'RUN')
    const pnpm = commands.map((item) => item.getTextContent()).filter((command) => command.includes('pnpm '))
    expect(pnpm[0]).toMatch(/pnpm fetch$/)
    for (const command of pnpm.slice(1)) expect(command).toMatch(/--offline| exec ship-bundle /)
  })

  it('builds once for all images, before the stages of single services', () => {
    const pruning = (stages.get('pruned') ?? []).map((item) => item.getTextContent()).join('\n')
    expect(pruning.match(/(?<=@switchyard\/)[\w-]+/g)?.sort()).toEqual(
      [...serviceNames, 'db', 'backup'].sort(),
    )
    for (const stage of ['tools', 'pruned', 'built'])
      for (const item of stages.get(stage) ?? []) expect(item.getTextContent()).not.toMatch(/\bSERVICE\b/)
  })

  it('puts no secret into an argument or a variable of the image', () => {
    for (const line of [...textOf('ARG'), ...textOf('ENV')])
      expect(line).not.toMatch(/PASSWORD|TOKEN|SECRET|_URL/)
  })
})
