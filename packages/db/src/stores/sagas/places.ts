/** Of a row: block and line of its table, as PostgreSQL's `ctid`. */
export interface Place {
  block: number
  line: number
}

export const nowhere: Place = { block: 0, line: 0 }

/** `(block,line)` */
export function placeOf(text: string): Place {
  const [place] = placesOf(text)
  if (!place) throw new Error('a place that is none')
  return place
}

/** `{"(block,line)",…}`: every number of it, two by two. */
export function placesOf(text: string): Place[] {
  const places: Place[] = []
  let block = 0
  let number = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code >= 48 && code <= 57) number = number * 10 + code - 48
    else if (code === 40) number = 0
    else if (code === 44) {
      block = number
      number = 0
    } else if (code === 41) places.push({ block, line: number })
  }
  return places
}

/** Notes where PostgreSQL has put the rows of these, in their order. */
export function setPlaces(entries: readonly { place: Place }[], text: string): void {
  if (entries.length === 0) return
  const places = placesOf(text)
  for (const [index, entry] of entries.entries()) entry.place = places[index] ?? nowhere
}
