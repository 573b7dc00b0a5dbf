'use client'
import { type KeyboardEvent, type RefObject, useRef } from 'react'
import type { EditorActions } from '../actions/editor-actions'
import { type Layout, type Position, START } from '../model/definition'
import { arrowTarget, END, type Neighbours } from './graph'

const GRID = 16
/** Letters typed within this time search for one name. */
const TYPE_AHEAD_MS = 700

const ARROWS: Record<string, Position> = {
  ArrowUp: { x: 0, y: -GRID },
  ArrowDown: { x: 0, y: GRID },
  ArrowLeft: { x: -GRID, y: 0 },
  ArrowRight: { x: GRID, y: 0 },
}

/**
 * The keys of the graph, which is a single Tab stop: arrows follow edges, Enter opens, letters jump to a name, M moves
 * a step with the arrows. Keys that work in every view (A, L, Delete, F2 …) are in `use-editor-keys.ts`.
 */
export function useCanvasKeys(options: {
  current: string
  setCurrent: (id: string) => void
  neighbours: Neighbours
  /** Names by id, in the order of the definition. */
  names: ReadonlyMap<string, string>
  layout: RefObject<Layout>
  actions: EditorActions
  readOnly: boolean
}): (event: KeyboardEvent) => void {
  const { current, setCurrent, neighbours, names, layout, actions, readOnly } = options
  const moving = useRef(false)
  const typed = useRef({ text: '', at: 0 })

  function go(id: string) {
    setCurrent(id)
    if (id !== END) actions.select([id])
  }

  function typeAhead(key: string): boolean {
    const now = Date.now()
    const goesOn = now - typed.current.at < TYPE_AHEAD_MS && typed.current.text !== ''
    const text = (goesOn ? typed.current.text : '') + key.toLowerCase()
    const found = [...names].find(([, name]) => name.toLowerCase().startsWith(text))
    if (!found) return false
    typed.current = { text, at: now }
    go(found[0])
    return true
  }

  return (event) => {
    const { key, target } = event
    if (!(target instanceof HTMLElement) || !target.classList.contains('react-flow__node')) return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const name = names.get(current) ?? current
    const arrow = ARROWS[key]
    if (moving.current) {
      if (arrow) {
        const at = layout.current[current]
        if (at) actions.move({ [current]: { x: at.x + arrow.x, y: at.y + arrow.y } })
      } else {
        moving.current = false
        actions.announce(`${name} placed.`)
      }
      if (arrow || key === 'Escape' || key === 'Enter' || key === 'm') {
        event.preventDefault()
        event.stopPropagation()
      }
      if (arrow || key !== 'Tab') return
    }
    if (arrow) {
      const to = arrowTarget(neighbours, current, key)
      if (to !== null) go(to)
      else actions.announce(key === 'ArrowDown' || key === 'ArrowRight' ? 'No next step.' : 'No previous step.')
    } else if (key === 'Home') go(START)
    else if (key === 'End') setCurrent(END)
    else if (key === 'Enter' && current !== END) actions.open(current)
    else if (key === 'm' && !readOnly && current !== END) {
      moving.current = true
      actions.announce(`Moving ${name}. Use the arrow keys, then press Enter.`, true)
    } else if (key.length === 1 && /[\p{L}_]/u.test(key) && !event.shiftKey) {
      // A shortcut's letter does not start a search, but can continue one.
      const searching = Date.now() - typed.current.at < TYPE_AHEAD_MS && typed.current.text !== ''
      if ((!searching && /[al]/.test(key)) || !typeAhead(key)) return
      event.stopPropagation()
    } else return
    event.preventDefault()
  }
}
