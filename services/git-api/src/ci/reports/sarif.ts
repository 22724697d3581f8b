import { excerpt, isRefusal } from '@switchyard/domain'
import { parseJson } from '@switchyard/service-kit/parse-json'
import { z } from 'zod'
import { createBudget, type Finding, messageCharsMax, nameCharsMax, unreadable } from './entries.js'

/** SARIF nests about ten levels deep, and has about twenty values for each result. */
const bounds = { nestingMax: 50, valuesMax: 1_000_000 }

const word = z.string().refine((value) => !/[\0\p{Surrogate}]/u.test(value), {
  error: 'has a character that cannot be stored: NUL, or half of a surrogate pair',
})
const line = z.int().min(1).max(2_147_483_647)
const level = z.enum(['error', 'warning', 'note', 'none'])
const message = z.object({ text: word.optional(), id: word.optional(), arguments: z.array(word).optional() })

const rule = z.object({
  id: word,
  defaultConfiguration: z.object({ level: level.optional() }).optional(),
  messageStrings: z.record(z.string(), z.object({ text: word.optional() })).optional(),
})

const result = z.object({
  ruleId: word.optional(),
  ruleIndex: z.int().optional(),
  rule: z.object({ id: word.optional(), index: z.int().optional() }).optional(),
  kind: word.optional(),
  level: level.optional(),
  message,
  locations: z
    .array(
      z.object({
        physicalLocation: z
          .object({
            artifactLocation: z.object({ uri: word.optional() }).optional(),
            region: z.object({ startLine: line.optional(), endLine: line.optional() }).optional(),
          })
          .optional(),
      }),
    )
    .nullish(),
  suppressions: z.array(z.unknown()).nullish(),
})

const log = z.object({
  version: z.literal('2.1.0'),
  runs: z.array(
    z.object({
      tool: z.object({ driver: z.object({ name: word, rules: z.array(rule).optional() }) }),
      results: z.array(result).nullish(),
    }),
  ),
})

type Rule = z.output<typeof rule>
type Result = z.output<typeof result>

export interface SarifFinding extends Finding {
  /**
   * The texts by which the same finding is recognized in another report. The number of its line is left out,
   * because every change above the line changes the number.
   */
  identity: string[]
}

/**
 * Returns the findings of SARIF 2.1.0: the results that are not suppressed and do not say that a check
 * passed.
 *
 * @throws DomainError invalid-parameters, too-large
 */
export function parseSarif(json: string): SarifFinding[] {
  const parsed = log.safeParse(parse(json))
  if (!parsed.success) throw unreadable(`is no SARIF 2.1.0: ${problemOf(parsed.error)}`)
  const budget = createBudget('findings')
  return parsed.data.runs.flatMap(({ tool: { driver }, results }) => {
    const rules = driver.rules ?? []
    const byId = new Map(rules.map((each) => [each.id, each]))
    return (results ?? []).flatMap((each) => {
      if ((each.suppressions?.length ?? 0) > 0 || each.kind === 'pass' || each.kind === 'notApplicable')
        return []
      budget.entry()
      const finding = findingOf(each, driver.name, ruleOf(each, rules, byId))
      budget.texts(finding.tool, finding.rule, finding.message, finding.path)
      return [finding]
    })
  })
}

function parse(json: string): unknown {
  try {
    return parseJson(json, undefined, bounds)
  } catch (error) {
    if (isRefusal(error, 'invalid-parameters'))
      throw unreadable(String(error.detail).includes('nested') ? 'is nested too deeply' : 'is no valid JSON')
    throw error
  }
}

function problemOf({ issues: [issue] }: z.ZodError): string {
  const path = (issue?.path ?? [])
    .map((part, index) => (index === 0 ? String(part) : `[${String(part)}]`))
    .join('')
  const problem = issue?.code === 'custom' ? issue.message : 'is missing or invalid'
  return path === '' ? 'it is no object' : `${excerpt(path)} ${problem}`
}

function ruleOf({ ruleIndex, rule, ruleId }: Result, rules: readonly Rule[], byId: Map<string, Rule>) {
  const index = ruleIndex ?? rule?.index
  return (index === undefined ? undefined : rules[index]) ?? byId.get(ruleId ?? rule?.id ?? '')
}

function findingOf(result: Result, tool: string, rule: Rule | undefined): SarifFinding {
  const location = result.locations?.[0]?.physicalLocation
  const ruleId = result.ruleId ?? result.rule?.id ?? rule?.id ?? null
  const path = pathInRepository(location?.artifactLocation?.uri)
  const message = messageOf(result.message, rule)
  const line = path === null ? null : (location?.region?.startLine ?? null)
  const level = result.level ?? rule?.defaultConfiguration?.level ?? 'warning'
  return {
    identity: [tool, ruleId ?? '', path ?? '', message],
    tool: excerpt(tool, nameCharsMax),
    rule: ruleId === null ? null : excerpt(ruleId, nameCharsMax),
    level: result.kind === undefined || result.kind === 'fail' ? level : (result.level ?? 'none'),
    message,
    path,
    line,
    end_line: line === null ? null : Math.max(line, location?.region?.endLine ?? line),
  }
}

/** Returns the text of the result, or the text of its rule with the arguments inserted. */
function messageOf({ text, id, arguments: given = [] }: Result['message'], rule: Rule | undefined): string {
  const strings = rule?.messageStrings ?? {}
  const found = id !== undefined && Object.hasOwn(strings, id) ? strings[id]?.text : undefined
  const parts = excerpt(text ?? found ?? '', messageCharsMax).split(/\{(\d{1,3})\}/)
  let message = ''
  for (const [index, part] of parts.entries()) {
    if (message.length > messageCharsMax) break
    message += index % 2 === 0 ? part : excerpt(given[Number(part)] ?? `{${part}}`, messageCharsMax)
  }
  return excerpt(message, messageCharsMax)
}

/**
 * Returns a path from the root of the repository. Tools write it as a relative address, or below `file:///`
 * with a variable before it.
 */
function pathInRepository(uri: string | undefined): string | null {
  if (uri === undefined || uri.length > 4 * nameCharsMax) return null
  const path = decoded(
    uri.replace(/^file:\/\/\/(?=%SRCROOT%|[^/])/i, '').replace(/^%SRCROOT%\//, ''),
  ).replace(/^(?:\.\/)+/, '')
  const parts = path.split('/')
  const isInside =
    !/^[a-z][a-z\d+.-]*:|^\/|\\|\p{Cc}/iu.test(path) &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..')
  return isInside && path.length <= nameCharsMax ? path : null
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
