import { useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'

let shownPath: string | undefined
/** Set when the focused heading was removed, and nothing else has received the focus since then. */
let hasLostHeading = false

/**
 * The frame of a page: the title of the document, the only main heading, and the actions beside it. After a
 * change of page, the heading gets the focus, so that a screen reader announces the page; the first page of a
 * visit does not move the focus.
 *
 * @param title name of the page, without the name of the product
 * @param heading unset: the title
 */
export function Page({
  title,
  heading,
  actions,
  children,
}: {
  title: string
  heading?: ReactNode
  actions?: ReactNode
  children?: ReactNode
}) {
  // The address changes before the page does, so the previous page must not mistake the new address for its
  // own.
  const path = useRouterState({ select: (state) => (state.resolvedLocation ?? state.location).pathname })
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const isOther = shownPath !== undefined && shownPath !== path
    // Focusing does not change the scroll position.
    if (isOther || (hasLostHeading && document.activeElement === document.body))
      ref.current?.focus({ preventScroll: true })
    shownPath = path
    hasLostHeading = false
  }, [path])
  useLayoutEffect(
    () => () => {
      hasLostHeading = document.activeElement === ref.current
    },
    [],
  )
  return (
    <>
      <title>{`${title} · Switchyard`}</title>
      <div className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2">
        <h1
          ref={ref}
          tabIndex={-1}
          dir="auto"
          className="min-w-[min(100%,12rem)] flex-1 text-xl font-semibold"
        >
          {heading ?? title}
        </h1>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </>
  )
}

/** A framed part of a page. With a name, it is a region for screen readers. */
export function Panel({
  name,
  actions,
  children,
  busy,
  flush,
}: {
  name: string
  actions?: ReactNode
  children: ReactNode
  busy?: boolean | undefined
  /** Whether the content has no padding, for tables and code. */
  flush?: boolean
}) {
  return (
    <section
      aria-label={name}
      aria-busy={busy || undefined}
      className="mb-5 min-w-0 rounded-lg border bg-panel"
    >
      <div className="flex flex-wrap items-center gap-2 border-b px-4 py-2">
        <h2 className="min-w-[min(100%,8rem)] flex-1 font-semibold">{name}</h2>
        {actions}
      </div>
      <div className={flush ? 'overflow-x-auto' : 'p-4'}>{children}</div>
    </section>
  )
}

/** A name and its value, in a list of the properties of an object. */
export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-quiet">{name}</dt>
    <dd className="min-w-0">{children}</dd>
  </>
)

/** The names and values of the properties of an object, in columns; narrow screens show two columns. */
export const FactGrid = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-3 lg:grid-cols-5">
    {facts.map(([name, value]) => (
      <div key={name} className="min-w-0">
        <dt className="text-sm text-quiet">{name}</dt>
        <dd className="break-words">{value}</dd>
      </div>
    ))}
  </dl>
)
