import { markdownTable } from '../support/markdown-table.js'
import type { Result } from './driver.js'

/** Returns whether a call is a challenge: git sends no credentials before it is asked for them. */
const isChallenge = (call: string) => call.endsWith('/info/refs 401')

/** Returns the refused calls without challenges. */
const refusedOf = ({ refused }: Result) => refused.filter((call) => !isChallenge(call))

const outcomes = ['works', 'with a setting', 'no', 'not run'] as const

/** Returns the result of a task in the words of the page. */
function outcomeOf({ notRun, error, task }: Result): (typeof outcomes)[number] {
  if (notRun !== undefined) return 'not run'
  if (error !== undefined) return 'no'
  return task.setting ? 'with a setting' : 'works'
}

/** Returns why a result is not simply `works`; empty for `works`. */
function reasonOf(result: Result): string {
  const { notRun, error, task } = result
  if (notRun !== undefined) return notRun
  if (error === undefined) return task.setting ?? ''
  const [first] = refusedOf(result)
  const call = first ? `; the first call that fails is \`${first}\`` : ''
  return `${task.fails ?? 'it fails'}${call}`
}

const nameOf = ({ driver, version }: Result) => (version === '' ? driver.tool : `${driver.tool} ${version}`)

/** Returns a link to the section of a tool, in the form of GitHub and GitLab. */
function linkTo(name: string): string {
  const anchor = name
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')
  return `[${name}](#${anchor})`
}

/** Returns the numbers of a tool's tasks by result. */
const overviewRow = (name: string, results: Result[]) => [
  linkTo(name),
  ...outcomes.map((outcome) => String(results.filter((each) => outcomeOf(each) === outcome).length || '')),
]

function section(name: string, results: Result[]): string {
  const lines = results.map((result) => {
    const reason = reasonOf(result)
    return `- **${outcomeOf(result)}**: ${result.task.title}${reason && ` (${reason})`}`
  })
  return `### ${name}\n\n${lines.join('\n')}\n`
}

const introduction = `# Which tools work

Tools that speak GitLab's API, or git, do here what their users do with them. Each was run against a fresh \`npm start\`, behind a
forwarder that notes every call. This page is what \`pnpm test:compat\` has written; what a tool is tried with is in
\`trials/compat\`.

- \`works\`: the published tool, with the address of the installation and a token and no further setting.
- \`with a setting\`: it works with the setting in parentheses.
- \`no\`: it does not work, for the reason in parentheses.
- \`not run\`: it was not tried, for the reason in parentheses.

\`by its calls\` means that the tool could not be installed, so that the calls that it makes were sent without it. \`in bounded memory\`
means that git-api and the processes that it starts take less than 100 MB more while the task runs.
`

/** Returns the page of a complete run. */
export function renderPage(results: Result[]): string {
  const names = [...new Set(results.map(nameOf))]
  const tools = names.map((name) => [name, results.filter((each) => nameOf(each) === name)] as const)
  const rows = tools.map(([name, tried]) => overviewRow(name, tried))
  const refused = results
    .filter((result) => result.error === undefined && refusedOf(result).length > 0)
    .map((result) => {
      const calls = refusedOf(result).map((call) => `\`${call}\``)
      return `- **${result.driver.tool}**, ${result.task.title}: ${calls.join(', ')}.`
    })
  return `${introduction}
${markdownTable([['tool', ...outcomes], ...rows])}

## Tasks

${tools.map(([name, tried]) => section(name, tried)).join('\n')}
## Refused calls

Answers of 4xx and 5xx that tools expect, or go on from: most ask whether something is there. The 401 that has git send its
credentials is left out.

${refused.join('\n') || 'None.'}
`
}
