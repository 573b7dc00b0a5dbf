'use client'
import { Component, createRef, type ReactNode } from 'react'

interface Props {
  /** What moves the content when it changes. */
  when: unknown
  children: ReactNode
}

/**
 * Problems arrive a moment after a change, and make room for themselves above a field that somebody is using by then.
 * Scrolls by as much, so that the focused element, and a list that is open beside it, stay where they are. The browser
 * does the same by itself only when what arrives is out of sight.
 */
export class KeepInPlace extends Component<Props> {
  private readonly box = createRef<HTMLDivElement>()

  override getSnapshotBeforeUpdate(before: Props): { element: Element; top: number } | null {
    const element = document.activeElement
    if (before.when === this.props.when || !element || !this.box.current?.contains(element)) return null
    return { element, top: element.getBoundingClientRect().top }
  }

  override componentDidUpdate(_before: Props, _state: unknown, place: { element: Element; top: number } | null): void {
    if (!place?.element.isConnected) return
    const by = place.element.getBoundingClientRect().top - place.top
    if (by !== 0) scrollerOf(place.element)?.scrollBy({ top: by, behavior: 'instant' })
  }

  override render() {
    return <div ref={this.box}>{this.props.children}</div>
  }
}

function scrollerOf(element: Element): Element | null {
  for (let up = element.parentElement; up; up = up.parentElement) {
    if (up.scrollHeight > up.clientHeight && /auto|scroll/.test(getComputedStyle(up).overflowY)) return up
  }
  return document.scrollingElement
}
