import type { Step } from './orchestrator.js'

/** What the three services know; each booking is one line. */
export type Bookings = Set<string>

/** The steps of a trip: flight, hotel, payment. The card decides whether the last one succeeds. */
export function bookTrip(bookings: Bookings, trip: { traveller: string; card: string }): Step[] {
  const booking = (name: string, parameter: object): Step => ({
    name,
    parameter,
    execute: async () => {
      bookings.add(`${name} of ${trip.traveller}`)
      return { confirmation: `${name}-${trip.traveller}` }
    },
    // Undoing what was never done is no mistake: a step that failed halfway is undone too.
    compensate: async () => {
      bookings.delete(`${name} of ${trip.traveller}`)
    },
  })
  const payment = booking('payment', { amount: 840, currency: 'EUR' })
  return [
    booking('flight', { from: 'BER', to: 'LIS', seats: 2 }),
    booking('hotel', { city: 'Lisbon', nights: 3 }),
    {
      ...payment,
      execute: async () => {
        if (trip.card === 'declined') throw new Error('the card was declined')
        return payment.execute()
      },
    },
  ]
}
