import { decideAll, type Fate, tally } from './batch'

test('one that fails keeps no other from being decided, and each is asked once', async () => {
  const fates = new Map<string, Fate>()
  const asked: string[] = []
  let [open, most] = [0, 0]
  const decide = async (id: string) => {
    asked.push(id)
    open += 1
    most = Math.max(most, open)
    await Promise.resolve()
    open -= 1
    if (id === 'b') throw new Error('taken')
    return 'success'
  }
  await decideAll(['a', 'b', 'c', 'd', 'e'], decide, (id, fate) => fates.set(id, fate))
  expect(asked).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(most).toBe(3)
  expect(fates.get('b')).toMatchObject({ state: 'failed', error: { message: 'taken' } })
  expect([...tally(fates.values())]).toEqual(
    expect.arrayContaining([
      ['success', 4],
      ['failed', 1],
    ]),
  )
})
