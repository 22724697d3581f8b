import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packetLine } from '@switchyard/git-storage/git-http'
import { commitsOf, type GitApi, makeProject, withGitApi } from './git-projects.js'
import { askAll, expectAnswer, type Figure, measureSizes, pick, type Subject } from './measure.js'

const commits = 2_000
const made = 200

/** Branches of one repository. */
export const references: Subject = {
  unit: 'branches of a repository',
  sizes: [1_000, 10_000, 100_000],
  run: (sizes, tell) =>
    withGitApi((gitApi) =>
      measureSizes(sizes, (size, turn) => measure(gitApi, size, `references-${turn}`), tell),
    ),
}

async function measure(gitApi: GitApi, size: number, name: string): Promise<Figure[]> {
  const branches = Array.from({ length: size }, (_, number) => branchOf(number))
  const project = await makeProject(gitApi, name, commits, (path) => addBranches(path, branches))
  const base = `/api/v4/projects/${project.id}/repository/branches`
  const { client } = gitApi
  const get = (path: string) => client.get(base + path).then(expectAnswer)
  const push = pushTo(gitApi, name, commitsOf(project.path)[0] ?? '')
  return askAll([
    { name: '20 branches', ask: (index) => get(`?page=${1 + (index % 40)}`) },
    { name: 'search', ask: (index) => get(`?search=${pick(branches, index).slice(8)}`) },
    { name: 'one branch', ask: (index) => get(`/${encodeURIComponent(pick(branches, index))}`) },
    {
      name: 'branch made',
      ask: (index) => client.post(base, { branch: `made-${index}`, ref: 'main' }).then(expectAnswer),
      most: made,
    },
    {
      name: 'branch deleted',
      ask: (index) =>
        client.delete(`${base}/${encodeURIComponent(pick(branches, index + 500))}`).then(expectAnswer),
      most: made,
    },
    { name: 'push of a branch', ask: push, most: made },
  ])
}

const branchOf = (number: number) =>
  `team-${String(number % 20).padStart(2, '0')}/change-${String(number).padStart(6, '0')}`

/** Adds branches to one file, as git packs them, because a file for each would take minutes. */
function addBranches(path: string, branches: readonly string[]): void {
  execFileSync('git', [`--git-dir=${path}`, 'pack-refs', '--all'])
  const ids = commitsOf(path)
  const lines = [
    ...branches.map((branch, index) => `${pick(ids, index)} refs/heads/${branch}`),
    `${ids[0]} refs/heads/main`,
  ]
  // Lines are ordered by the name, which begins at column 41.
  const sorted = lines.sort((a, b) => (a.slice(41) < b.slice(41) ? -1 : 1))
  writeFileSync(
    join(path, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${sorted.join('\n')}\n`,
  )
}

/**
 * Sends the request of a git client that creates a branch at an existing commit, after reading all
 * references.
 */
function pushTo({ service, port }: GitApi, name: string, commit: string) {
  const url = `http://127.0.0.1:${port}/root/${name}.git`
  const authorization = { Authorization: `Basic ${btoa(`any:${service.token}`)}` }
  const emptyPack = execFileSync('git', ['pack-objects', '--stdout', '--quiet'], { input: '' })
  return async (index: number) => {
    const advertised = await fetch(`${url}/info/refs?service=git-receive-pack`, { headers: authorization })
    expectAnswer({ status: advertised.status, text: await advertised.text() })
    const command = `${'0'.repeat(40)} ${commit} refs/heads/pushed-${index}\0report-status side-band-64k`
    const headers = { ...authorization, 'Content-Type': 'application/x-git-receive-pack-request' }
    const body = new Uint8Array(Buffer.concat([Buffer.from(`${packetLine(command)}0000`), emptyPack]))
    const answer = await fetch(`${url}/git-receive-pack`, { method: 'POST', headers, body })
    const report = expectAnswer({ status: answer.status, text: await answer.text() })
    if (!report.includes('unpack ok') || report.includes('ng refs/')) throw new Error(report)
  }
}
