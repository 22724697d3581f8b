import type { ReactNode } from 'react'

/** One row of the time line. @param note a text at its right, such as the largest value */
export const Lane = ({
  name,
  note,
  height,
  children,
}: {
  name: string
  note?: ReactNode
  height: number
  children: ReactNode
}) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields of a form
  <div role="group" aria-label={name}>
    <div className="flex justify-between gap-3 text-xs text-quiet" aria-hidden="true">
      <span>{name}</span>
      <span>{note}</span>
    </div>
    <div className="relative mb-2" style={{ height }}>
      {children}
    </div>
  </div>
)
