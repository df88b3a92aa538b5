// What surrounds Chainlit's chat: the side bar with the chats, the line of health, the list that completes names.
// Plain DOM, as it lives beside React's page. All words come from the server's catalogue; texts are never markup.
(() => {
  const base = new URL(document.currentScript.src).pathname.replace(/\/public\/[^/]*$/, '');
  const WIDE = window.matchMedia('(min-width: 1100px)');
  const address = (name) => new URLSearchParams(window.location.search).get(name) || '';
  const language = () => address('lang') || navigator.language;
  const route = (path, values = {}) => `${base}/repopilot${path}?${new URLSearchParams({ ...values, lang: language() })}`;

  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
      else if (value === true) made.setAttribute(name, '');
      else if (value !== false && value != null) made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child != null));
    return made;
  }

  async function json(url, options) {
    const answer = await fetch(url, options);
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.detail || answer.statusText);
    return found;
  }

  // ---- a file to save, for the elements ----
  window.repopilotSave = ({ name, mime, base64 }) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const link = make('a', { href: URL.createObjectURL(new Blob([bytes], { type: mime })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  // ---- boxes and what leads from one to another, for the elements: `h` is React's createElement ----
  const near = (at, on) => (event) => {
    for (const line of event.currentTarget.ownerSVGElement.querySelectorAll('[data-ends]')) line.classList.toggle('rp-diagram-near', on && line.dataset.ends.split(' ').includes(String(at)));
  };
  window.repopilotChart = (h, { boxes, lines, down, width, height, box: [wide, high] }, { open, label, zoom = 1, subject, texts = [] }) => {
    const longest = Math.floor((wide - 14) / 7.3);
    // Of a path the end tells most; names of components often end alike, so that they lose their middle.
    const start = down ? Math.floor(longest / 2) : 0;
    const short = (text) => (text.length > longest ? `${text.slice(0, start)}…${text.slice(start + 1 - longest)}` : text);
    const line = ([from, to, weight, implied], at) => {
      const [a, b] = [boxes[from], boxes[to]];
      const back = down ? a.y >= b.y : a.x >= b.x;
      let path;
      if (down && a.y === b.y) {
        const [x1, x2, y] = [a.x + wide / 2, b.x + wide / 2, a.y + high];
        path = `M${x1} ${y} C${x1} ${y + high} ${x2} ${y + high} ${x2} ${y}`;
      } else if (down) {
        const [x1, x2] = [a.x + wide / 2, b.x + wide / 2];
        const [y1, y2] = back ? [a.y, b.y + high] : [a.y + high, b.y];
        path = `M${x1} ${y1} C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}`;
      } else {
        const [x1, x2] = back ? [a.x, b.x + wide] : [a.x + wide, b.x];
        const [y1, y2, bend] = [a.y + high / 2, b.y + high / 2, (x1 + x2) / 2];
        path = `M${x1} ${y1} C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`;
      }
      return h('path', { key: at, d: path, 'data-ends': `${from} ${to}`, className: `${back ? 'rp-diagram-back' : 'rp-diagram-line'}${implied ? ' rp-diagram-implied' : ''}`, strokeWidth: 1 + 3 * weight, markerEnd: 'url(#rp-arrow)' });
    };
    const drawn = (box, at) => {
      const press = (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); open(box, at); } };
      const [mark, unmark] = [near(at, true), near(at, false)];
      return h('g', { key: at, ref: box.subject ? subject : null, className: box.subject ? 'rp-diagram-box rp-diagram-subject' : 'rp-diagram-box', role: 'button', tabIndex: 0,
        'aria-label': `${box.label}, ${box.path}`, onClick: () => open(box, at), onKeyDown: press, onMouseEnter: mark, onMouseLeave: unmark, onFocus: mark, onBlur: unmark },
      h('title', {}, [box.label, [box.path, box.line].filter(Boolean).join(':')].join('\n')),
      h('rect', { x: box.x, y: box.y, width: wide, height: high, rx: 6 }),
      h('text', { x: box.x + 8, y: box.y + high / 2 + 4 }, short(box.label)));
    };
    const bows = lines.filter(([from, to]) => down && boxes[from].y === boxes[to].y).map(([from]) => boxes[from].y + 1.75 * high + 8);
    const tall = Math.max(height, ...bows);
    return h('svg', { className: 'rp-diagram', width: width * zoom, height: tall * zoom, viewBox: `0 0 ${width} ${tall}`, role: 'group', 'aria-label': label },
      h('defs', {}, h('marker', { id: 'rp-arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: 'userSpaceOnUse', orient: 'auto' }, h('path', { d: 'M0 0 L8 4 L0 8 z', className: 'rp-diagram-tip' }))),
      texts.map(([x, y, text]) => h('text', { key: `${x} ${y}`, x, y, className: 'rp-diagram-head' }, text)), lines.map(line), boxes.map(drawn));
  };

  // A picture that leads down, its rows broken where the room is narrower. The room is that of an element's inside, so
  // that ten boxes are read without scrolling aside, on a telephone too.
  window.repopilotFitted = (picture, room) => {
    if (!room || picture.width <= room) return picture;
    const [gap, margin, high] = [14, 8, picture.box[1]];
    const wide = Math.min(picture.box[0], Math.floor((room - 2 * margin - gap) / 2));
    const [across, down] = [wide + gap, high + 32];
    const most = Math.max(2, Math.floor((room - 2 * margin + gap) / across));
    const levels = [...new Set(picture.boxes.map((box) => box.y))].sort((a, b) => a - b);
    const rows = levels.flatMap((y) => {
      const row = picture.boxes.filter((box) => box.y === y).sort((a, b) => a.x - b.x);
      return Array.from({ length: Math.ceil(row.length / most) }, (_, n) => row.slice(n * most, (n + 1) * most));
    });
    const widest = Math.max(...rows.map((row) => row.length));
    const placed = new Map(rows.flatMap((row, depth) => row.map((box, at) => [box.number, { ...box, x: margin + (at + (widest - row.length) / 2) * across, y: margin + depth * down }])));
    return { ...picture, box: [wide, high], boxes: picture.boxes.map((box) => placed.get(box.number)), width: 2 * margin + wide + (widest - 1) * across, height: 2 * margin + high + (rows.length - 1) * down };
  };

  // ---- the chats ----
  const list = make('div', { class: 'rp-chats-list' });
  const search = make('input', { class: 'rp-input', type: 'search', spellcheck: 'false' });
  const fresh = make('a', { class: 'rp-button', href: `${base}/` });
  const said = make('div', { class: 'rp-error', hidden: true });
  const nav = make('nav', { id: 'rp-chats', hidden: true }, make('div', { class: 'rp-chats-head' }, fresh, search), said, list);
  const toggle = make('button', { id: 'rp-chats-toggle', class: 'rp-icon-button', 'aria-controls': 'rp-chats', onclick: () => show(nav.hidden, true) }, '☰');
  let words = {};
  let shown = '';

  function show(open, chosen) {
    nav.hidden = !open;
    document.body.classList.toggle('rp-chats-open', open);
    toggle.setAttribute('aria-expanded', String(open));
    toggle.setAttribute('aria-label', (open ? words.hide : words.show) || 'Chats');
    toggle.title = toggle.getAttribute('aria-label');
    if (chosen) localStorage.setItem('repopilot-chats', open ? 'open' : 'closed');
    if (open && chosen) search.focus();
  }

  async function refresh() {
    let found;
    try {
      found = await json(route('/chats', { search: search.value }));
    } catch {
      return; // the line of health says so
    }
    const state = JSON.stringify([found, address('chat'), search.value]);
    if (state === shown || list.querySelector('input, details[open]')) return;
    const early = !words.chats;
    shown = state;
    ({ words, completed } = found);
    if (early) complete(); // what was typed before it was known what can be completed
    nameButtons();
    nav.setAttribute('aria-label', words.chats);
    search.placeholder = words.search;
    search.setAttribute('aria-label', words.search);
    fresh.textContent = words.new;
    show(!nav.hidden);
    list.replaceChildren(...found.groups.map(group));
    if (!found.groups.length) list.append(make('p', { class: 'rp-muted rp-note' }, search.value ? words.nothing : words.none));
  }

  const group = ({ name, chats }) => make('section', {}, make('h2', {}, name), make('ul', {}, ...chats.map(entry)));

  function entry(chat) {
    const current = chat.id === address('chat');
    const link = make('a', { href: chat.href ? base + chat.href : null, title: chat.title, 'aria-current': current ? 'page' : null },
      make('span', { class: 'rp-chat-title' }, chat.pinned ? `📌 ${chat.title}` : chat.title),
      make('span', { class: 'rp-muted rp-chat-facts' }, chat.facts));
    const item = make('li', {}, link);
    const act = (options) => change(chat, options);
    const button = (label, work) => make('button', { class: 'rp-menu-item', onclick: work }, label);
    const erase = button(words.delete, () => {
      if (erase.textContent === words.confirm) act({ method: 'DELETE' });
      else erase.textContent = words.confirm;
    });
    const file = (form, ending, label) => make('a', { class: 'rp-menu-item', href: route(`/chats/${chat.id}/export`, { form }), download: `chat.${ending}` }, label);
    item.append(make('details', { class: 'rp-chat-menu' },
      make('summary', { 'aria-label': words.more.replace('{title}', chat.title) }, '⋯'),
      make('div', { class: 'rp-menu' },
        button(words.rename, () => { item.replaceChildren(titleForm(chat)); item.firstChild.select(); }),
        button(chat.pinned ? words.unpin : words.pin, () => act({ body: { pinned: !chat.pinned } })),
        file('markdown', 'md', words.markdown), file('json', 'json', words.json), file('benchmark', 'jsonl', words.rated), erase)));
    return item;
  }

  function titleForm(chat) {
    const input = make('input', { class: 'rp-input', value: chat.title, maxlength: '120', 'aria-label': words.rename });
    const leave = () => { input.remove(); shown = ''; refresh(); };
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') leave();
      if (event.key === 'Enter' && input.value.trim()) change(chat, { body: { title: input.value.trim() } });
    });
    return input;
  }

  async function change(chat, { method = 'POST', body }) {
    said.hidden = true;
    try {
      await json(route(`/chats/${chat.id}`), { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    } catch (error) {
      said.textContent = words.failed.replace('{error}', error.message);
      said.hidden = false;
    }
    list.replaceChildren();
    shown = '';
    await refresh();
    if (method === 'DELETE' && chat.id === address('chat')) window.location.assign(fresh.href);
  }

  let typing;
  search.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(refresh, 150); });
  document.addEventListener('click', (event) => {
    for (const menu of nav.querySelectorAll('details[open]')) if (!menu.contains(event.target)) menu.open = false;
  });

  // ---- the line of health ----
  const line = make('span', { class: 'rp-health-text' });
  const health = make('div', { id: 'rp-health', role: 'status', 'aria-label': 'Health' }, make('span', { class: 'rp-dot' }), line);
  // Work that takes long may tell when it is done: the browser asks for permission only after a click.
  const bell = make('button', { class: 'rp-button rp-bell', hidden: true, onclick: async () => { await Notification.requestPermission(); bell.hidden = true; } });
  health.append(bell);
  const BELL_S = 8;
  let busySince = 0;

  function watchWork(indexing) {
    const busy = indexing || Boolean(document.querySelector('#stop-button'));
    if (busy && !busySince) busySince = Date.now();
    const long = busySince && Date.now() - busySince > BELL_S * 1000;
    if (!busy && long && document.hidden && window.Notification?.permission === 'granted') new Notification('RepoPilot', { body: `${words.done} ${document.title.replace(/^✓ /, '')}`, tag: 'repopilot' });
    if (!busy) busySince = 0;
    bell.hidden = !(busy && long && window.Notification?.permission === 'default');
    bell.textContent = words.notify || '';
  }

  let lostWords = {};
  let lost = false;

  function tell(state, text, title) {
    if (line.textContent !== text) line.textContent = text;
    health.dataset.state = state;
    health.title = title;
  }

  async function look() {
    try {
      const found = await json(route('/health', { repo: address('repo') }));
      lostWords = found.words;
      health.setAttribute('aria-label', found.words.health);
      const problems = found.problems.length ? ` · ⚠ ${found.problems[0]}` : '';
      const back = lost ? `${found.words.back} ` : '';
      lost = false;
      watchWork(found.state === 'busy' && Boolean(address('repo')));
      tell(found.state, back + found.items.join(' · ') + problems, found.problems.join('\n'));
    } catch {
      lost = true;
      tell('bad', lostWords.lost || '…', '');
    }
  }

  // ---- names that complete what is typed ----
  const options = make('div', { id: 'rp-mentions', role: 'listbox', hidden: true });
  let rows = [];
  let at = -1; // the row chosen with the arrows, -1 for none
  let token = null;
  let asked = 0;
  let completed = {}; // by command: how many of its first words name what exists

  const input = () => document.querySelector('#chat-input');

  /** What is being typed: a mention behind `@`, or an argument of a command, typed or chosen, that names what exists. */
  function typed(box) {
    const before = box.value.slice(0, box.selectionStart);
    const mention = /(?:^|[\s(])@([^\s@]{0,120})$/.exec(before);
    if (mention) return { kind: 'mention', text: mention[1], start: before.length - mention[1].length };
    const chosen = document.querySelector('.command-button[id^="command-"]');
    const argument = /^\s*\/([a-z]+)\s+(.*\s)?([\w./$-]{2,120})$/s.exec(chosen ? `/${chosen.id.slice('command-'.length)} ${before}` : before);
    if (!argument) return null;
    const [, command, earlier = '', text] = argument;
    if (earlier.split(/\s+/).filter(Boolean).length >= (completed[command] || 0)) return null;
    return { kind: 'argument', text, start: before.length - text.length };
  }

  async function complete() {
    const box = input();
    token = box && address('repo') ? typed(box) : null;
    const turn = ++asked;
    if (!token) return close();
    let found = [];
    try {
      found = await json(route('/complete', { repo: address('repo'), text: token.text, kind: token.kind }));
    } catch {
      return close();
    }
    if (turn !== asked) return;
    const chosen = rows[at]?.value; // in the list of what was typed before
    rows = found;
    at = rows.findIndex((row) => row.value === chosen);
    options.dataset.text = token.text;
    if (rows.length) draw(box);
    else close();
  }

  function draw(box) {
    options.setAttribute('aria-label', words.mentions || 'Mentions');
    options.replaceChildren(...rows.map((row, number) => make('div',
      { id: `rp-mention-${number}`, role: 'option', 'aria-selected': String(number === at), onmousedown: (event) => { event.preventDefault(); take(number); } },
      make('span', { class: 'rp-place' }, row.label), make('span', { class: 'rp-muted rp-chat-facts' }, [row.kind, row.detail].filter(Boolean).join(' · ')))));
    const place = box.closest('form, #message-composer, div.rounded-3xl')?.getBoundingClientRect() || box.getBoundingClientRect();
    options.hidden = false;
    Object.assign(options.style, { left: `${place.left}px`, width: `${place.width}px`, bottom: `${window.innerHeight - place.top + 6}px` });
    box.setAttribute('aria-controls', options.id);
    if (at < 0) {
      box.removeAttribute('aria-activedescendant');
      options.scrollTop = 0;
      return;
    }
    box.setAttribute('aria-activedescendant', `rp-mention-${at}`);
    options.children[at].scrollIntoView({ block: 'nearest' });
  }

  function close() {
    asked += 1; // what is still on its way comes too late
    options.hidden = true;
    delete options.dataset.text;
    rows = [];
    at = -1;
    input()?.removeAttribute('aria-activedescendant');
  }

  function take(number) {
    const box = input();
    const end = box.selectionStart;
    const text = `${rows[number].value} `;
    const caret = token.start + text.length;
    const value = box.value.slice(0, token.start) + text + box.value.slice(end);
    close();
    // React listens to the setter of the prototype.
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(box, value);
    box.dispatchEvent(new Event('input', { bubbles: true }));
    box.setSelectionRange(caret, caret);
    box.focus();
  }

  document.addEventListener('input', (event) => { if (event.target === input()) complete(); });
  document.addEventListener('focusout', (event) => { if (event.target === input()) setTimeout(close, 150); });
  document.addEventListener('keydown', (event) => {
    if (event.target !== input()) return;
    if (event.key === 'Enter' && at < 0) close();
    if (options.hidden) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      at = Math.min(Math.max(at + (event.key === 'ArrowDown' ? 1 : -1), 0), rows.length - 1);
      draw(event.target);
    } else if (event.key === 'Tab' || event.key === 'Enter') take(Math.max(at, 0));
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }, true);

  // ---- an answer that is typed while a question shows its buttons: that for any other answer first, then what is typed ----
  const otherAnswer = () => (input()?.value.trim() ? document.querySelector('button[id^="rp-other-"]') : null);
  function answerTyped(event) {
    const other = otherAnswer();
    if (!other) return;
    event.preventDefault();
    event.stopPropagation();
    other.click();
    const waiting = setInterval(() => {
      const send = document.querySelector('#chat-submit:not([disabled])');
      if (other.isConnected || !send) return;
      clearInterval(waiting);
      send.click();
    }, 100);
  }
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.target === input()) answerTyped(event);
  }, true);
  document.addEventListener('click', (event) => { if (event.target.closest?.('#chat-submit')) answerTyped(event); }, true);
  document.addEventListener('input', (event) => {  // Chainlit takes no text while it asks, and disables its button
    if (event.target === input() && otherAnswer()) document.querySelector('#chat-submit')?.removeAttribute('disabled');
  });

  // ---- what was asked, the step that runs, and then the first line of the answer stay in view, unless the reader goes elsewhere ----
  let follows = false;
  const follow = () => { follows = true; };
  const leave = () => { follows = false; };
  document.addEventListener('keydown', (event) => { if (event.key === 'Enter' && event.target === input()) follow(); });
  document.addEventListener('click', (event) => { if (event.target.closest?.('#chat-submit, .rp-button')) follow(); }, true);
  for (const name of ['wheel', 'touchmove', 'pointerdown']) document.addEventListener(name, leave, { passive: true });
  document.addEventListener('keydown', (event) => { if (/^(Page|Arrow|Home|End)/.test(event.key)) leave(); });

  function running() {
    if (follows) [...document.querySelectorAll('button.loading-shimmer')].pop()?.scrollIntoView({ block: 'nearest' });
  }

  const among = (nodes, selector) => nodes.map((node) => (node.matches?.(selector) ? node : node.querySelector?.(selector))).find(Boolean);

  /** An overview that comes after a question was asked pushes the question down. */
  function pushed(nodes) {
    if (follows && among(nodes, '.rp-overview-card')) setTimeout(() => follows && [...document.querySelectorAll('[data-step-type="user_message"]')].pop()?.scrollIntoView({ block: 'start' }), 250);
  }

  function finished(nodes) {
    const sources = among(nodes, '.rp-sources');
    if (sources && document.hidden) document.title = `✓ ${document.title.replace(/^✓ /, '')}`;
    if (!sources || !follows) return;
    setTimeout(() => {
      const message = sources.closest('[data-step-type="assistant_message"]');
      const top = message?.getBoundingClientRect().top ?? 60;
      if (follows && (top < 50 || top > window.innerHeight * 0.6)) message.scrollIntoView({ block: 'start' });
    }, 250);
  }
  new MutationObserver((changes) => {
    const added = changes.flatMap((change) => [...change.addedNodes]);
    pushed(added);
    finished(added);
    running();
    nameButtons();
    nameSentences();
  }).observe(document.querySelector('#root') || document.body, { childList: true, subtree: true });

  // ---- sentences that code could not check: their notes ----
  const note = (element) => (element?.matches('a[href^="#unchecked-"], a[href^="#contradicted-"]') ? element : null);

  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('.message-content a[href^="#"]');
    const place = link?.getAttribute('href');
    if (link) event.preventDefault(); // Chainlit's links open a tab
    const goal = place?.startsWith('#to-') ? document.querySelector(`a[href="#${place.slice(4)}"]`) : note(link || event.target.closest?.('del')?.nextElementSibling);
    if (goal && goal !== link) (goal.previousElementSibling || goal).scrollIntoView({ block: 'center' });
    goal?.focus({ preventScroll: true });
  }, true);

  /** Nothing is deleted of a sentence between `~~` that isn't contradicted. */
  function nameSentences() {
    for (const mark of document.querySelectorAll('del:not([role]) + a[href^="#unchecked-"]')) mark.previousElementSibling.setAttribute('role', 'none');
  }

  // ---- the keys, under `?` ----
  const keys = make('dialog', { id: 'rp-keys', class: 'rp-keys' });

  function showKeys() {
    const rows = ['/', '@', 'Enter', 'Shift+Enter', '↑ ↓', 'Tab', 'A', 'R', '?', 'Esc'].map((key, at) => make('li', {}, make('kbd', {}, key), ` ${words[`key_${at}`] || ''}`));
    keys.replaceChildren(make('h2', {}, words.keys), make('ul', {}, ...rows), make('button', { class: 'rp-button', onclick: () => keys.close() }, words.close));
    keys.setAttribute('aria-label', words.keys);
    keys.showModal();
  }

  document.addEventListener('keydown', (event) => {
    // Chainlit keeps the message box in focus: an empty one holds no sentence that a question mark could end.
    const box = event.target.closest?.('input, textarea, [contenteditable]');
    if (event.key !== '?' || keys.open || !words.keys || (box && (box !== input() || box.value))) return;
    event.preventDefault();
    showKeys();
  });

  // ---- names for Chainlit's buttons that show only a picture ----
  function nameButtons() {
    const names = { '#chat-submit': words.send, '#stop-button': words.stop, '#chat-settings-open-modal': words.settings,
      '#new-chat-button': words.new, '#chat-input': words.ask, '#theme-toggle': words.theme };
    for (const [place, name] of Object.entries(names)) {
      const found = name && document.querySelector(place);
      if (found && found.getAttribute('aria-label') !== name) found.setAttribute('aria-label', name);
    }
    const icons = { 'arrow-down': words.down, 'arrow-left': words.close, 'lucide-x': words.close, copy: words.copy, check: words.copy };
    for (const button of document.querySelectorAll('#root button:not([aria-label]), [role="dialog"] button:not([aria-label])')) {
      if (button.textContent.trim() || button.title) continue;
      const icon = button.querySelector('svg')?.getAttribute('class') || '';
      const name = Object.entries(icons).find(([part]) => icon.includes(part))?.[1] || words.button;
      if (name) button.setAttribute('aria-label', name);
    }
    for (const dialog of document.querySelectorAll('[role="dialog"]:not([aria-label])')) dialog.setAttribute('aria-label', dialog.querySelector('h2')?.textContent || 'RepoPilot');
    for (const handle of document.querySelectorAll('[role="separator"][aria-controls]')) {
      if (!document.getElementById(handle.getAttribute('aria-controls'))) handle.removeAttribute('aria-controls');
      if (!handle.hasAttribute('aria-label')) handle.setAttribute('aria-label', words.resize || 'Resize');
    }
  }

  // ---- the page ----
  document.body.append(toggle, nav, health, options, keys);
  const kept = localStorage.getItem('repopilot-chats');
  show(WIDE.matches && kept !== 'closed');
  refresh();
  look();
  let place = window.location.search;
  setInterval(() => {
    if (place === window.location.search) return;
    place = window.location.search;
    refresh();
    look();
  }, 500);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) document.title = document.title.replace(/^✓ /, ''); });
  setInterval(() => { if (!document.hidden || busySince) look(); }, 3000);
  setInterval(() => { if (!document.hidden && !nav.hidden) refresh(); }, 5000);
})();
