const traceIdPlaceholder = '{trace_id}'

/** Returns whether a text is a web address with the placeholder `{trace_id}`. */
export function isTraceUrlTemplate(text: string): boolean {
  const example = text.replaceAll(traceIdPlaceholder, '0'.repeat(32))
  if (example === text || !URL.canParse(example)) return false
  const { protocol, username, password } = new URL(example)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/**
 * Returns the address of an event's trace; null without a template or a trace.
 *
 * @param template a template that {@link isTraceUrlTemplate} accepts
 * @param traceParent `version-traceid-parentid-flags`, as W3C defines it
 */
export function traceUrl(template: string | undefined, traceParent: string | null): string | null {
  const traceId = traceParent?.split('-')[1]
  return template && traceId ? new URL(template.replaceAll(traceIdPlaceholder, traceId)).href : null
}
