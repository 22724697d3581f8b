import { CopyButton } from '../../components/copy-button'
import { ButtonLink } from '../../components/text-link'
import { useMayChange } from './project-data'
import { useProject, useProjectParams } from './project-frame'

/** Instructions for a project without commits. */
export function EmptyRepository() {
  const { http_url_to_repo, default_branch } = useProject()
  const params = useProjectParams()
  const mayWrite = useMayChange('developer')
  const commands = [
    'git init',
    `git remote add origin ${http_url_to_repo}`,
    'git add .',
    'git commit -m "First commit"',
    `git push origin HEAD:${default_branch}`,
  ].join('\n')
  return (
    <div className="rounded-lg border bg-panel p-5">
      <h2 className="mb-2 text-lg font-semibold">This repository is empty</h2>
      {mayWrite ? (
        <>
          <p className="mb-3">
            Push to it from a folder with your files. Git asks for a user name and a password: give yours, and
            an access token.
          </p>
          <pre className="mb-3 overflow-x-auto rounded-md bg-raised p-3 font-mono text-sm">{commands}</pre>
          <div className="flex flex-wrap gap-2">
            <CopyButton label="Copy commands" text={() => commands} />
            <ButtonLink
              to="/projects/$namespace/$name/new-commit"
              params={params}
              search={{ ref: default_branch }}
              look="primary"
            >
              New commit
            </ButtonLink>
          </div>
        </>
      ) : (
        <p>Nothing has been pushed to it yet.</p>
      )}
    </div>
  )
}
