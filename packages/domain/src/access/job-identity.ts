import { isHttpUrl, storableText } from '../texts.js'
import { compileWildcard } from '../wildcard.js'

/** The claims of the identity token of a CI job. */
export type Claims = Readonly<Record<string, unknown>>

/** Name of a claim → the pattern that its value matches; `*` stands for any characters. */
export type ClaimPatterns = Readonly<Record<string, string>>

/**
 * The CI job that sends a request with its identity token, or with a token that it received in exchange for
 * it.
 */
export interface JobIdentity {
  issuer: string
  subject: string
  /** Null, here and in the fields below: the token does not name it. */
  repository: string | null
  ref: string | null
  /** The run of the workflow, the pipeline or the build. */
  run: string | null
  /** The page of the run, over HTTP or HTTPS. */
  url: string | null
}

const patternsMax = 10
const patternCharsMax = 255

/**
 * Claims that identify the owner of a job. Each rule has to name one of them, because anybody can run jobs at
 * the issuers of public forges.
 */
const identifyingClaims = ['sub', 'repository', 'repository_id', 'project_path', 'project_id']

const namePattern = /^[\w.:/-]{1,64}$/

/** Returns the problem of the patterns of a rule; null when there is none. */
export function claimPatternsProblem(patterns: ClaimPatterns): string | null {
  const entries = Object.entries(patterns)
  if (entries.length > patternsMax) return `has more than ${patternsMax} claims`
  for (const [name, pattern] of entries) {
    if (!namePattern.test(name)) return 'has a claim with an invalid name'
    if (pattern === '') return `has an empty pattern for ${name}`
    if (pattern.length > patternCharsMax)
      return `has a pattern for ${name} that is too long (maximum is ${patternCharsMax} characters)`
  }
  const identifies = identifyingClaims.some(
    (name) => Object.hasOwn(patterns, name) && !patterns[name]?.startsWith('*'),
  )
  if (identifies) return null
  return `must have one of ${identifyingClaims.join(', ')}, with a pattern that does not begin with *`
}

/**
 * Returns the text of a claim; null when the claim is missing, or is neither a text, a number nor a boolean.
 */
function claimText(claims: Claims, name: string): string | null {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}

/** Returns whether the claims match every pattern, in time that is linear in their length. */
export const matchesClaims = (patterns: ClaimPatterns, claims: Claims): boolean =>
  Object.entries(patterns).every(([name, pattern]) => {
    const value = claimText(claims, name)
    return value !== null && compileWildcard(pattern)(value)
  })

const shownCharsMax = 255

/**
 * Returns the job of a verified token. The names of its claims differ between GitHub with Forgejo, GitLab and
 * Jenkins.
 */
export function jobIdentityOf(claims: Claims): JobIdentity {
  const first = (...names: string[]) => {
    const value = names.map((name) => claimText(claims, name)).find((text) => text !== null) ?? null
    return value && storableText(value.slice(0, shownCharsMax).replace(/\p{Surrogate}/gu, '\ufffd'))
  }
  return {
    issuer: first('iss') ?? '',
    subject: first('sub') ?? '',
    repository: first('repository', 'project_path'),
    ref: first('ref'),
    run: first('run_id', 'pipeline_id', 'build_number'),
    url: pageOf(claims),
  }
}

const urlCharsMax = 1024
const github = 'https://token.actions.githubusercontent.com'

/**
 * Returns the address of the page of the run, which the claims of GitHub, GitLab and Jenkins name in parts;
 * null when there is no such page.
 */
function pageOf(claims: Claims): string | null {
  const part = (name: string) => {
    const text = claimText(claims, name)
    return text !== null && /^[\w.~/-]+$/.test(text) ? text : null
  }
  const [issuer, subject] = [claimText(claims, 'iss'), claimText(claims, 'sub') ?? '']
  const [repository, run] = [part('repository'), part('run_id')]
  const [project, pipeline, build] = [part('project_path'), part('pipeline_id'), part('build_number')]
  const pages = [
    claimText(claims, 'run_url'),
    issuer === github && repository && run && `https://github.com/${repository}/actions/runs/${run}`,
    issuer && project && pipeline && `${issuer.replace(/\/$/, '')}/${project}/-/pipelines/${pipeline}`,
    build && `${subject.replace(/\/$/, '')}/${build}/`,
  ]
  return pages.find((page) => page && page.length <= urlCharsMax && isHttpUrl(page)) || null
}
