import { notFound } from 'next/navigation'

/** Catches unknown addresses of the workspace, so that "Page not found" appears inside the dashboard's frame. */
export default function Nowhere() {
  notFound()
}
