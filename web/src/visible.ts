import { type ComponentChildren, Fragment, options } from 'preact';

// What controls rather than shows: it could hide a part of a name, or turn its order around. Lines and tabs are what they are.
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** visible is a text in which characters that would not be seen are written as \u202e is here. */
export function visible(text: string): string {
  return text.replace(unseen, (c) => Array.from({ length: c.length }, (_, i) => '\\u' + c.charCodeAt(i).toString(16).padStart(4, '0')).join(''));
}

/** showAll makes every text that is put on the page visible. What is searched, linked and copied stays what it is. */
export function showAll(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    before?.(vnode);
    const props = vnode.props as { children?: ComponentChildren };
    if ((typeof vnode.type === 'string' || vnode.type === Fragment) && props.children !== undefined) props.children = shown(props.children);
  };
}

function shown(children: ComponentChildren): ComponentChildren {
  if (typeof children === 'string') return visible(children);
  return Array.isArray(children) ? children.map(shown) : children;
}
