import type { RunEvent } from './queries'
import { withEvent } from './run-events'

const event = (seq: number) => ({ id: `e${seq}`, seq }) as RunEvent
const seqs = (events: RunEvent[]) => events.map(({ seq }) => seq)

test('an event takes its place by its number', () => {
  expect(seqs(withEvent([event(1), event(3)], event(2)))).toEqual([1, 2, 3])
})

test('an event that comes twice is there once', () => {
  const events = [event(1), event(2)]
  expect(withEvent(events, event(2))).toBe(events)
})
