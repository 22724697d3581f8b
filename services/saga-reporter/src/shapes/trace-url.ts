const traceIdPlaceholder = '{trace_id}'

/** Whether a text is the web address of a trace, with `{trace_id}` where the id belongs. */
export function isTraceUrlTemplate(text: string): boolean {
  const example = text.replaceAll(traceIdPlaceholder, '0'.repeat(32))
  if (example === text || !URL.canParse(example)) return false
  const { protocol, username, password } = new URL(example)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/**
 * The page of the trace that an event belongs to; null without a template or a trace.
 *
 * @param template as {@link isTraceUrlTemplate} accepts it
 * @param traceParent `version-traceid-parentid-flags`, as W3C defines it
 */
export function traceUrl(template: string | undefined, traceParent: string | null): string | null {
  const traceId = traceParent?.split('-')[1]
  return template && traceId ? new URL(template.replaceAll(traceIdPlaceholder, traceId)).href : null
}
