import { chooseNumber } from './decision'

const breaking = {
  live: '1.2.0',
  draft: '1.2.0',
  bump: 'major',
  breaking: true,
  typed: undefined,
} as const

test('the proposed number needs no second thought', () => {
  expect(chooseNumber(breaking)).toEqual({
    version: '2.0.0',
    proposed: '2.0.0',
    fault: undefined,
    isTooLow: false,
    hidesBreak: false,
  })
})

test('a number that hides a break has to be confirmed', () => {
  expect(chooseNumber({ ...breaking, typed: '1.3.0' })).toMatchObject({
    isTooLow: true,
    hidesBreak: true,
  })
  expect(chooseNumber({ ...breaking, typed: '3.0.0' })).toMatchObject({ isTooLow: false })
})

test('a number that is too low for what was added has to be confirmed too', () => {
  const added = { ...breaking, bump: 'minor', breaking: false, typed: '1.2.1' } as const
  expect(chooseNumber(added)).toMatchObject({ isTooLow: true, hidesBreak: false })
})

test('a first publication keeps its number and breaks nobody', () => {
  const first = { ...breaking, live: undefined, bump: 'none', breaking: false } as const
  expect(chooseNumber(first)).toMatchObject({ version: '1.2.0', isTooLow: false })
})

test('what is no number, or less than the draft has, is refused', () => {
  expect(chooseNumber({ ...breaking, typed: '2' }).fault).toBe('not_a_version')
  expect(chooseNumber({ ...breaking, typed: '1.0.0' }).fault).toBe('too_small')
  expect(chooseNumber({ ...breaking, typed: '1.2.0' })).toMatchObject({
    fault: undefined,
    hidesBreak: true,
  })
})
