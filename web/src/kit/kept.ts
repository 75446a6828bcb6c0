import { useState } from 'react'

import { parse, stringify } from '~/api/exact'

/**
 * State that outlives a reload of this tab: what a person typed and has not sent. Setting it to
 * `undefined` forgets it. The key belongs into the `key` of the component too, if it can change.
 */
export function useKept<T>(
  key: string,
): [value: T | undefined, set: (value: T | undefined) => void] {
  const [value, setValue] = useState(() => read<T>(key))
  const set = (value: T | undefined) => {
    setValue(() => value)
    try {
      if (value === undefined) sessionStorage.removeItem(key)
      else sessionStorage.setItem(key, stringify(value))
    } catch {
      // A store that is full or forbidden: the value lives as long as the page does.
    }
  }
  return [value, set]
}

function read<T>(key: string): T | undefined {
  try {
    const text = sessionStorage.getItem(key)
    return text === null ? undefined : (parse(text) as T)
  } catch {
    return undefined
  }
}
