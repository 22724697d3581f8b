import { describe, expect, it } from 'vitest'
import { isTraceUrlTemplate, traceUrl } from './trace-url.js'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceParent = `00-${traceId}-00f067aa0ba902b7-01`
const template = 'https://tempo.example.com/trace/{trace_id}'

describe('the link to a trace', () => {
  it('contains the id of the trace at every placeholder of the template', () => {
    expect(traceUrl(template, traceParent)).toBe(`https://tempo.example.com/trace/${traceId}`)
    expect(traceUrl('http://jaeger/{trace_id}?id={trace_id}', traceParent)).toBe(
      `http://jaeger/${traceId}?id=${traceId}`,
    )
    expect(traceUrl('https://grafana/explore?q={"id":"{trace_id}"}', traceParent)).toBe(
      `https://grafana/explore?q={%22id%22:%22${traceId}%22}`,
    )
  })

  it('is missing without a template or a trace', () => {
    expect(traceUrl(undefined, traceParent)).toBeNull()
    expect(traceUrl(template, null)).toBeNull()
  })

  it.each([
    'https://tempo.example.com/trace',
    'javascript:alert("{trace_id}")',
    'tempo.example.com/trace/{trace_id}',
    '/trace/{trace_id}',
    'https://me:hunter2@tempo.example.com/{trace_id}',
    'https://',
  ])('is never made from %s', (text) => {
    expect(isTraceUrlTemplate(text)).toBe(false)
  })
})
