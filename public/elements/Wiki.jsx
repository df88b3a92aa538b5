import { createElement, useEffect, useRef, useState } from 'react';
import { BookOpen, Download, ListTree } from 'lucide-react';

// What our pages have on a line: escapes, code, bold, slanted and struck text, links. All of it becomes text and buttons, never markup.
const INLINE = /\\([\\`*_[\]<>&|~$+=#/.)-])|(`+)(?!`)(.*?[^`])\2(?!`)|\*\*(.+?)\*\*(?!\*)|\*(?! )([^*\n]+?)\*(?!\*)|~~(.+?)~~|\[((?:`[^`]*`|\\.|[^\]\\`])*)\]\(([^()\s]*)\)/gs;

function inline(text, go) {
  const made = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, escaped, ticks, code, bold, slanted, struck, label, href] = found;
    const after = found.index + whole.length;
    // A place in brackets is a link without them: a line would break between the link and its bracket.
    const bracket = href && text[found.index - 1] === '(' && text[after] === ')' ? 1 : 0;
    made.push(text.slice(end, found.index - bracket));
    end = after + bracket;
    const key = found.index;
    if (escaped) made.push(escaped);
    else if (ticks) made.push(<code key={key}>{ticks.length > 1 ? code.replace(/^ (.*) $/s, '$1') : code}</code>);
    else if (bold) made.push(<strong key={key}>{inline(bold, go)}</strong>);
    else if (slanted) made.push(<em key={key} className="rp-muted">{inline(slanted, go)}</em>);
    else if (struck) made.push(<s key={key}>{inline(struck, go)}</s>);
    else if (go) made.push(<button key={key} className="rp-link" onClick={() => go(href)}>{inline(label)}</button>);
    else made.push(<span key={key}>{inline(label)}</span>);
  }
  return [...made, text.slice(end)];
}

// A page line by line: fenced code and the picture, folded rows, headings, rows of lists, quotes, paragraphs.
function Body({ props, go }) {
  const page = [];
  let made = page;
  let fence = null;
  props.text.split('\n').forEach((line, at) => {
    const [, indent, mark, rest] = /^(\s*)(#{1,4} |- |\d+\. |> )?(.*)$/s.exec(line);
    if (fence) {
      if (line !== fence.mark) fence.lines.push(line);
      else {
        if (!fence.picture) made.push(<pre key={at} className="rp-wiki-code" tabIndex={0}><code>{fence.lines.join('\n')}</code></pre>);
        else if (props.picture.boxes) made.push(<div key={at} className="rp-picture" tabIndex={0}>{window.repopilotChart(createElement, props.picture, { open: (box) => go(props.names[box.number]), label: props.words.picture })}</div>);
        fence = null;
      }
      return;
    }
    const begun = /^(`{3,}|~{3,})(.*)$/.exec(line);
    const folded = /^<details><summary>(.*)<\/summary>$/.exec(line);
    if (begun) fence = { mark: begun[1], picture: begun[2] === 'mermaid', lines: [] };
    else if (folded) {
      made = [];
      page.push(<details key={at} className="rp-all"><summary>{inline(folded[1])}</summary>{made}</details>);
    } else if (line === '</details>') made = page;
    else if (!rest) return;
    else if (mark?.startsWith('#')) made.push(<div key={at} role="heading" aria-level={mark.length + 1} className={mark === '# ' ? 'rp-wiki-title' : 'rp-wiki-head'}>{inline(rest, go)}</div>);
    else if (mark === '> ') made.push(<p key={at} className="rp-warn">{inline(rest, go)}</p>);
    else if (mark) made.push(<div key={at} role="listitem" className="rp-wiki-row" style={{ marginLeft: `${0.9 + indent.length * 0.6}rem` }}>{mark === '- ' ? '' : <span className="rp-muted">{mark}</span>}{inline(rest, go)}</div>);
    else made.push(<p key={at}>{inline(line, go)}</p>);
  });
  return page;
}

function Contents({ props, call, show }) {
  const { words } = props;
  const [text, setText] = useState('');
  const [found, setFound] = useState(null);
  useEffect(() => {
    if (!text.trim()) { setFound(null); return undefined; }
    let current = true;
    call('search_wiki', { text }).then((answer) => current && answer?.found && setFound(answer.found));
    return () => { current = false; };
  }, [text, props.pages.length]);
  const titles = Object.fromEntries(props.pages);
  const rows = found ?? props.pages.map(([name, , summary]) => [name, summary]);
  return (
    <div className="rp-wiki-contents">
      <input className="rp-input" type="search" value={text} onChange={(event) => setText(event.target.value)} placeholder={words.search} aria-label={words.search} spellCheck="false" />
      <ul aria-label={words.contents}>
        {rows.map(([name, said]) => (
          <li key={name}>
            <button className="rp-link" aria-current={name === props.page ? 'page' : undefined} onClick={() => show(name)}>{inline(titles[name] ?? name)}</button>
            {said && <span className="rp-overview-text rp-muted">{inline(said.replace(/^\s*(?:#+|-|\d+\.) /, ''))}</span>}
          </li>
        ))}
      </ul>
      {found && !found.length && <div className="rp-muted">{words.nothing}</div>}
    </div>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Wiki = (window.repopilotWiki ||= function ({ props, callAction }) {
  const { words } = props;
  const [failed, setFailed] = useState('');
  const [listed, setListed] = useState(false);
  const body = useRef(null);
  useEffect(() => { setListed(false); body.current?.scrollTo({ top: 0 }); }, [props.page]);
  const call = async (name, payload) => {
    const result = await callAction({ name, payload: { answer: props.answer, ...payload } });
    setFailed(result?.response?.error || (result?.success ? '' : words.no_answer));
    return result?.response;
  };
  const show = (page) => call('show_wiki', { page });
  const go = (href) => {
    const place = /^(.+)#L(\d+)$/.exec(href);
    return place ? call('open_file', { path: decodeURIComponent(place[1]), line: Number(place[2]) }) : show(href);
  };
  const save = async () => {
    const file = await call('download', { form: 'wiki' });
    if (file?.base64) window.repopilotSave(file);
  };
  const error = failed && <div className="rp-error">{failed}</div>;
  if (!props.page) {
    return (
      <section className="rp-wiki" aria-label={words.title}>
        {error}
        <Contents props={props} call={call} show={show} />
        <div className="rp-row">
          <button className="rp-button" onClick={() => show(props.pages[0][0])}><BookOpen size={14} /> {words.open}</button>
          <button className="rp-button" onClick={save}><Download size={14} /> {words.download}</button>
        </div>
      </section>
    );
  }
  return (
    <section className="rp-code" role="region" aria-label={words.title}>
      <div className="rp-code-head"><button className="rp-button" aria-expanded={listed} onClick={() => setListed(!listed)}><ListTree size={13} /> {words.contents}</button></div>
      {error}
      {props.old && <div className="rp-warn">⚠ {props.old}</div>}
      <div ref={body} className="rp-code-scroll rp-wiki-page" tabIndex={0}>
        {listed && <Contents props={props} call={call} show={show} />}
        <Body props={props} go={go} />
      </div>
    </section>
  );
});

export default <Wiki props={props} callAction={callAction} />;
