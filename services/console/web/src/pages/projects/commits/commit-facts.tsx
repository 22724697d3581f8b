import { queryOptions, useQuery } from '@tanstack/react-query'
import { getPage, segment } from '../../../api/client'
import { Badge, State } from '../../../components/badge'
import { ByJob } from '../../../components/by-job'
import { Fact } from '../../../components/page'
import { TextLink } from '../../../components/text-link'
import { Time } from '../../../components/time'
import type { CommitDetail, CommitReference } from '../../../generated/types.gen'
import { count, shortSha } from '../../../lib/format'
import { useProjectParams, useProjectPath } from '../project-frame'

const referencesMax = 20

export const referencesQuery = (project: string, sha: string) =>
  queryOptions({
    queryKey: [project, 'commit', sha, 'refs'],
    queryFn: ({ signal }) =>
      getPage<CommitReference>(
        `${project}/repository/commits/${segment(sha)}/refs`,
        { per_page: referencesMax },
        signal,
      ),
  })

/**
 * Author and date of a commit, its parents, its branches and tags, and the rest of its message below the
 * title.
 *
 * @param sha the commit as the address names it
 */
export function CommitFacts({ commit, sha }: { commit: CommitDetail; sha: string }) {
  const params = useProjectParams()
  const body = bodyOf(commit)
  const { stats } = commit
  const isOtherCommitter = commit.committer_email !== commit.author_email
  return (
    <div className="mb-5 rounded-lg border bg-panel px-4 py-3 text-sm">
      {body && (
        <p dir="auto" className="mb-3 border-b pb-3 whitespace-pre-wrap">
          {body}
        </p>
      )}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1.5">
        <Fact name="Author">
          <Person name={commit.author_name} email={commit.author_email} /> <Time at={commit.authored_date} />
        </Fact>
        {isOtherCommitter && (
          <Fact name="Committer">
            <Person name={commit.committer_name} email={commit.committer_email} />{' '}
            <Time at={commit.committed_date} />
          </Fact>
        )}
        {commit.job_identity && (
          <Fact name="Brought">
            <ByJob job={commit.job_identity} />
          </Fact>
        )}
        <Fact name="Commit">
          <code className="font-mono text-[13px] break-all">{commit.id}</code>
        </Fact>
        <Fact name={commit.parent_ids.length > 1 ? 'Parents' : 'Parent'}>
          {commit.parent_ids.length === 0 && 'None: this commit begins the history.'}
          <span className="flex flex-wrap gap-3">
            {commit.parent_ids.map((sha) => (
              <TextLink
                key={sha}
                to="/projects/$namespace/$name/commits/$sha"
                params={{ ...params, sha }}
                className="font-mono text-[13px]"
              >
                {shortSha(sha)}
              </TextLink>
            ))}
          </span>
        </Fact>
        <References sha={sha} />
        {commit.status && (
          <Fact name="Status">
            <State of={commit.status} />
          </Fact>
        )}
        {stats && (
          <Fact name="Changes">
            <span className="text-good">{count(stats.additions)} lines added</span>,{' '}
            <span className="text-bad">{count(stats.deletions)} lines removed</span>
          </Fact>
        )}
      </dl>
    </div>
  )
}

const Person = ({ name, email }: { name: string; email: string }) => (
  <>
    <span dir="auto" className="font-medium">
      {name}
    </span>{' '}
    <span className="text-quiet">&lt;{email}&gt;</span>
  </>
)

/** Returns the message without its title. */
function bodyOf({ message, title }: CommitDetail): string {
  const rest = message.startsWith(title) ? message.slice(title.length) : message
  return rest.trim()
}

/** The branches and tags that contain the commit. */
function References({ sha }: { sha: string }) {
  const params = useProjectParams()
  const project = useProjectPath()
  const references = useQuery(referencesQuery(project, sha))
  if (!references.data) return null
  const { rows, total = rows.length } = references.data
  return (
    <Fact name="Contained in">
      <span className="flex flex-wrap items-center gap-2">
        {rows.length === 0 && 'No branch or tag'}
        {rows.map(({ type, name }) => (
          <TextLink
            key={`${type} ${name}`}
            to="/projects/$namespace/$name"
            params={params}
            search={{ ref: name }}
            className="inline-flex"
          >
            <Badge wraps tone={type === 'tag' ? 'warn' : 'plain'}>
              {type === 'tag' ? `tag ${name}` : name}
            </Badge>
          </TextLink>
        ))}
        {total > rows.length && <span className="text-quiet">and {count(total - rows.length)} more</span>}
      </span>
    </Fact>
  )
}
