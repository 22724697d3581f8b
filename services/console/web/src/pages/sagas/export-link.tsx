import { useState } from 'react'
import { addressOf, type Query } from '../../api/client'
import { buttonClass } from '../../components/button'
import { CheckboxField } from '../../components/fields'

/**
 * Downloads all sagas of a search. The byte order mark, without which Excel shows each umlaut as two
 * characters, can be left out.
 */
export function ExportLink({ query }: { query: Query }) {
  const [hasMark, setHasMark] = useState(true)
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <a
        className={buttonClass()}
        href={addressOf('/sagas/export', { ...query, format: 'csv', bom: hasMark })}
        download
      >
        Export as CSV
      </a>
      <CheckboxField
        label="for Excel"
        title="With a byte order mark, by which Excel knows UTF-8"
        checked={hasMark}
        onChange={(event) => setHasMark(event.target.checked)}
      />
    </span>
  )
}
