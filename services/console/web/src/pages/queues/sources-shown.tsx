import type { ReactNode } from 'react'
import { ApiError } from '../../api/client'
import { Loading, Problem } from '../../components/states'
import type { SourceFigures, Sources } from './use-sources'

/** The metrics of the sources that answer, and the errors of the others. */
export function SourcesShown({
  found: { sources, silent, stream },
  children,
}: {
  found: Sources
  children: (sources: SourceFigures[]) => ReactNode
}) {
  return (
    <>
      <p role="status" className="text-sm text-quiet">
        {stream === 'reconnecting' && 'Reconnecting…'}
        {stream === 'ended' && 'No live updates: the session has ended'}
      </p>
      {silent.map(({ name, message }) => (
        <div key={name} className="mb-4">
          <Problem error={new ApiError(503, message)} />
        </div>
      ))}
      {sources === undefined && <Loading />}
      {/* The state of a source that does not answer is unknown: no queue, no worker and zero would be
          wrong. */}
      {sources && (sources.length > 0 || silent.length === 0) && children(sources)}
    </>
  )
}
