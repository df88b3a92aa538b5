import { useEffect, useRef, useState } from 'react';
import { Copy, ExternalLink, Files, ListTree, Pencil, X } from 'lucide-react';

const BLOCK = 100;

function Pieces({ pieces }) {
  return pieces.map(([kind, text], at) => (kind ? <span key={at} className={`rp-t${kind}`}>{text}</span> : text));
}

// The browser lays out only those blocks that are near what is seen.
function Block({ first, lines, start, end, marked }) {
  return (
    <div className="rp-block" style={{ containIntrinsicSize: `auto ${lines.length * 1.5}em` }}>
      {lines.map((pieces, at) => {
        const number = first + at;
        const cited = number >= start && number <= end;
        return (
          <div key={number} data-line={number} ref={number === start ? marked : null} className={cited ? 'rp-source-line rp-cited' : 'rp-source-line'}>
            <span className="rp-line-number">{number}</span>
            <span className="rp-source-text"><Pieces pieces={pieces} />{'\n'}</span>
          </div>
        );
      })}
    </div>
  );
}

/** The name under the pointer. */
function nameAt(event) {
  const range = document.caretRangeFromPoint?.(event.clientX, event.clientY);
  const text = range?.startContainer?.textContent ?? '';
  const before = /[\p{L}\p{N}_$]*$/u.exec(text.slice(0, range?.startOffset ?? 0))[0];
  const after = /^[\p{L}\p{N}_$]*/u.exec(text.slice(range?.startOffset ?? 0))[0];
  return before + after;
}

function Places({ title, places, open }) {
  if (!places?.length) return null;
  return (
    <div className="rp-places">
      <span className="rp-muted">{title}</span>
      {places.map((place) => (
        <button key={`${place.path}:${place.line}`} className="rp-link rp-place" title={`${place.path}:${place.line}`} onClick={() => open(place.path, place.line)}>{place.label}</button>
      ))}
    </div>
  );
}

function FileList({ words, call, open }) {
  const [filter, setFilter] = useState('');
  const [found, setFound] = useState({ files: [], more: '' });
  useEffect(() => {
    let current = true;
    call('list_files', { filter }).then((answer) => current && answer?.files && setFound(answer));
    return () => { current = false; };
  }, [filter]);
  return (
    <div className="rp-tree">
      <input className="rp-input" value={filter} onChange={(event) => setFilter(event.target.value)} placeholder={words.filter} aria-label={words.filter} spellCheck="false" />
      {found.files.map((path) => <button key={path} className="rp-link rp-place" onClick={() => open(path)}>{path}</button>)}
      {found.more && <span className="rp-muted">{found.more}</span>}
    </div>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Code = (window.repopilotCode ||= function ({ props, callAction }) {
  const { words, lines, start, end } = props;
  const marked = useRef(null);
  const [copied, setCopied] = useState(false);
  const [aside, setAside] = useState('');
  const [name, setName] = useState(null);
  const [failed, setFailed] = useState('');
  useEffect(() => {
    marked.current?.scrollIntoView({ block: 'center' });
    setName(null);
    setCopied(false);
  }, [props.key, props.path, start, end]);
  const call = async (action, payload) => {
    const result = await callAction({ name: action, payload: { ...payload, key: props.key } });
    setFailed(result?.response?.error || (result?.success ? '' : words.no_answer));
    return result?.response;
  };
  const open = (path, line = 1) => { setAside(''); call('open_file', { path, line }); };
  const copy = async () => {
    const text = lines.slice(start - 1, end).map((pieces) => pieces.map((piece) => piece[1]).join('')).join('\n');
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  const lookUp = async (event) => {
    if (window.getSelection()?.toString()) return;
    const word = nameAt(event);
    if (/^[\p{L}_$]/u.test(word)) setName(await call('look_up', { name: word }));
  };
  const turn = (what) => setAside(aside === what ? '' : what);
  const blocks = [];
  for (let at = 0; at < lines.length; at += BLOCK) blocks.push([at + 1, lines.slice(at, at + BLOCK)]);
  return (
    <section className="rp-code" role="region" aria-label={words.title}>
      <div className="rp-code-head">
        <strong className="rp-place">{props.path}</strong>
        <span className="rp-muted">{props.facts}</span>
        {!props.supported && <span className="rp-warn">⚠ {words.unsupported}</span>}
        <div className="rp-row rp-tight">
          <button className="rp-button" onClick={copy}><Copy size={13} /> {copied ? words.copied : words.copy}</button>
          {props.outline.length > 0 && <button className="rp-button" aria-expanded={aside === 'outline'} onClick={() => turn('outline')}><ListTree size={13} /> {words.outline}</button>}
          <button className="rp-button" aria-expanded={aside === 'files'} onClick={() => turn('files')}><Files size={13} /> {words.files}</button>
          {props.host && <a className="rp-button" href={props.host} target="_blank" rel="noreferrer"><ExternalLink size={13} /> {words.host}</a>}
          {props.editor && <a className="rp-button" href={props.editor}><Pencil size={13} /> {words.editor}</a>}
        </div>
      </div>
      {aside === 'files' && <FileList key={props.key} words={words} call={call} open={open} />}
      {aside === 'outline' && (
        <div className="rp-tree">
          {props.outline.map(([depth, label, line]) => (
            <button key={`${label}:${line}`} className="rp-link rp-place" style={{ paddingLeft: `${depth}rem` }} onClick={() => open(props.path, line)}>{label}</button>
          ))}
        </div>
      )}
      {name && (
        <div className="rp-name" role="status">
          <div className="rp-row rp-tight">
            <strong className="rp-place rp-grow">{name.name}</strong>
            <button className="rp-button" aria-label={words.close} onClick={() => setName(null)}><X size={13} /></button>
          </div>
          {!name.definitions?.length && <span className="rp-muted">{words.nothing.replace('{name}', name.name)}</span>}
          <Places title={words.definitions} places={name.definitions} open={open} />
          <Places title={words.callers} places={name.callers} open={open} />
        </div>
      )}
      {failed && <div className="rp-error">{failed}</div>}
      <div className="rp-code-scroll rp-file-text" tabIndex={0} onClick={lookUp}>
        {blocks.map(([first, part]) => <Block key={first} first={first} lines={part} start={start} end={end} marked={marked} />)}
      </div>
    </section>
  );
});

export default <Code props={props} callAction={callAction} />;
