'use client'
import { Component, createRef, type ReactNode } from 'react'

interface Props {
  /** Content moves when this value changes. */
  when: unknown
  children: ReactNode
}

/**
 * Problems appear a moment after a change and push down the field in use. This component scrolls by the same distance,
 * so that the focused element and its open list stay in place. Browsers do so only when the new content is out of view.
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
