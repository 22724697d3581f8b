/** A long text in a box that scrolls. Its name makes it a region, which the keyboard can reach. */
export const TextBox = ({
  label,
  busy,
  className,
  children,
}: {
  label: string
  busy?: boolean | undefined
  className: string
  children: string
}) => (
  <section
    aria-label={label}
    aria-busy={busy || undefined}
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached with the keys
    tabIndex={0}
    className={`overflow-auto rounded-md ${className}`}
  >
    <pre dir="auto" className="font-mono text-xs whitespace-pre-wrap">
      {children}
    </pre>
  </section>
)
